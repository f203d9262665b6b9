// Merchants, stores and TPNs as the onboarding interface shows them.

export interface Contact {
  firstName: string;
  lastName: string | null;
  email: string;
  addressLine1: string;
  addressLine2: string | null;
  phoneNumber: string;
  ISDcode: string;
}

interface Common {
  status: string;
  statusReason: string | null;
  effectiveStatus?: string;
  version: number;
  externalReference: string | null;
  metadata: Record<string, string>;
  created: string;
  updated: string;
}

export interface Merchant extends Common {
  merchantId: string;
  dba: string;
  zipCode: string;
  city: string;
  state: string;
  isoMerchant: string | null;
  contact: Contact;
}

export interface Store extends Common {
  storeId: string;
  merchantId: string;
  dba: string;
  mccCode: string;
  zipCode: string;
  city: string;
  state: string;
  contact: Contact;
}

export interface Tpn extends Common {
  tpn: string;
  merchantId: string;
  storeId: string | null;
  deviceManufacturer: string;
  deviceModel: string;
  tpnAssignTemplate: string | null;
  templateVersion: number | null;
  tpnProcessor: { processorName: string; profile: { profileId: string; status: string; identifiers: Record<string, string> }[] };
  device: { deviceId: string; serialNumber: string; bound: string; lastSeen: string | null } | null;
}

export interface Requirement {
  code: string;
  message: string;
  param: string;
}

export interface Duplicate {
  merchantId: string;
  dba: string;
  status: string;
  score: number;
  reasons: string[];
}

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
