// Texts of one's own account, of all users, and of registering an ISO.

export const account = {
  title: 'Account',
  login: 'Username',
  roles: 'Roles',
  password: 'Password',
  passwordExplain:
    'Changing your password signs you out on all other devices. Application passwords keep working.',
  newPassword: 'New password',
  newPasswordHint: 'Use a long passphrase, such as a few unrelated words.',
  setPassword: 'Change password',
  passwordSet: 'Password changed. Other sessions are signed out.',
  bound: 'Acts for',
  name: 'Name',
  used: 'Last used',
  created: 'Created',
  do: 'Actions',
  never: 'never',
  revoke: 'Revoke',
  revocation: (name: string) => `${name} loses access immediately. This cannot be undone.`,
  passwords: {
    title: 'Application passwords',
    explain: 'Create one for each program that signs in as you. You can revoke each separately.',
    create: 'New application password',
    name: 'Program name',
    empty: 'No application passwords',
    once: 'Your application password',
    from: (address: string) => `from ${address}`,
  },
  keys: {
    title: 'Consumer keys',
    explain: 'A key and a secret for a program that uses the store’s API, such as a point of sale.',
    create: 'New consumer key',
    name: 'Description',
    may: 'Permissions',
    empty: 'No consumer keys yet',
    once: 'Your consumer key and secret',
    key: 'Key',
    secret: 'Secret',
    ends: (end: string) => `ends in ${end}`,
    permissions: { read: 'read', write: 'write', read_write: 'read and write' } as Record<
      string,
      string
    >,
  },
};

export const users = {
  title: 'Users',
  missing: 'User not found',
  create: 'New user',
  name: 'Name',
  login: 'Username',
  email: 'E-mail',
  role: 'Roles',
  since: 'Created',
  staff: 'All staff',
  empty: 'No users yet',
  self: 'you',
  remove: 'Delete',
  roles: {
    administrator: 'Administrator',
    shop_manager: 'Shop manager',
    iso_admin: 'ISO administrator',
    iso_staff: 'ISO staff',
    merchant: 'Merchant',
    store: 'Store',
    editor: 'Editor',
    author: 'Author',
    contributor: 'Contributor',
    subscriber: 'Subscriber',
    customer: 'Customer',
  } as Record<string, string>,
  hints: {
    username: 'Used to sign in. It cannot be changed later.',
    name: 'Display name. Defaults to the username.',
    roles:
      'Users of ISOs, merchants and stores are created on the command line, where you choose whom they act for.',
  } as Record<string, string>,
  passwordRule: 'Share it in person. Users can change it on their account page.',
  keepPassword:
    'Leave empty to keep the current password. A new one signs the user out everywhere.',
  signsInAs: (login: string) => `Signs in as ${login}`,
  removal: (name: string) => `Delete ${name}?`,
  consequence:
    'This permanently deletes the account with its sessions, keys and application passwords. Content by this user is reassigned to you.',
};

export const register = {
  hints: {
    name: 'The name of your organisation.',
    contactName: 'The person we write to.',
  } as Record<string, string>,
  title: 'Register an ISO',
  explain:
    'An ISO onboards merchants for card acceptance. We send you an e-mail with a link that leads to your first API key.',
  send: 'Register',
  sent: 'Check your e-mail',
  sentHint: (expires: string) => `The link expires on ${expires}.`,
  confirm: 'Choose a password',
  confirmExplain: 'You use this password to sign in to the portal. Your programs use API keys.',
  finish: 'Finish',
  done: 'Welcome to Boardwalk',
  login: (login: string) => `Sign in as ${login}.`,
  key: 'Your first API key',
  waiting: 'An operator will review your registration. You get your first API key after approval.',
  closed: 'Registration is closed',
  closedHint: 'Ask the operator of this server for an ISO account.',
  back: 'Back',
};
