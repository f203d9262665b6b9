// What can be done with merchants, stores and TPNs; what they are is in the generated types.
export type { Duplicate, Merchant, Requirements, Store, Tpn } from '../../lib/generated';

/** Which actions a state allows; the server refuses all others. */
export const ACTIONS: Record<'merchant' | 'store' | 'tpn', Record<string, string[]>> = {
  merchant: { active: ['suspend', 'close'], suspended: ['resume', 'close'] },
  store: { active: ['deactivate'], inactive: ['activate', 'close'] },
  tpn: {
    provisioned: ['deactivate', 'retire'],
    active: ['deactivate', 'retire'],
    attention: ['retire'],
    reassigning: ['retire'],
    inactive: ['activate', 'retire'],
  },
};

/** Actions that cannot be taken back. */
export const FINAL = ['close', 'retire'];
