// Texts of the ISO console: keys, templates, webhooks, ISOs, events and the audit log.

interface Usage {
  keys: number;
  people: number;
  merchants: number;
  devices: number;
  webhooks: number;
  merchantPeople: number;
}

/** A number with its noun. */
const some = (number: number, one: string, many: string): string =>
  `${number.toLocaleString('en')} ${number === 1 ? one : many}`;

const states: Record<string, string> = {
  suspended: 'This ISO is suspended',
  pending_approval: 'This ISO is waiting for approval',
  rejected: 'This ISO was rejected',
};

export const console = {
  keys: {
    title: 'API keys',
    create: 'New key',
    name: 'Name',
    state: 'Status',
    scopes: 'Permissions',
    used: 'Last used',
    expires: 'Expires',
    do: 'Actions',
    empty: 'No keys yet',
    emptyHint:
      'Your programs use an API key to onboard merchants. A key is shown only once and can be rotated without downtime.',
    never: 'never',
    rotate: 'Rotate',
    revoke: 'Revoke',
    hints: {
      name: 'The program that uses the key.',
      allowedIps:
        'Addresses or networks, such as 203.0.113.0/24, separated by commas. Leave empty to allow all.',
      expiresInDays: 'Defaults to one year.',
      neverExpires: 'Sandbox only.',
    } as Record<string, string>,
    access: 'Access',
    custom: 'Choose permissions',
    full: 'Full access',
    fullExplain:
      'Everything, including API keys, webhooks and processor credentials, and whatever is added later.',
    allows: 'This key will be allowed to:',
    once: 'Your API key',
    rotation: (name: string) => `Rotate ${name}?`,
    rotated: (hours: number) =>
      `You get a new key. The old key works for another ${hours} hours, so that you can update your programs.`,
    revocation: (name: string) =>
      `Programs that use ${name} lose access immediately. This cannot be undone.`,
  },
  templates: {
    title: 'Templates',
    missing: 'Template not found',
    create: 'New template',
    name: 'Name',
    nameRule: '5 to 30 letters and digits',
    state: 'Status',
    version: 'Version',
    sets: 'Parameters',
    used: 'Used by',
    changed: 'Updated',
    empty: 'No templates yet',
    emptyHint:
      'A template holds settings that several terminals share. Each change is a new version.',
    retire: 'Retire',
    retirement: 'New TPNs can no longer use this template. Existing TPNs keep it.',
    explain: 'Select what this template sets. Everything else uses the ISO’s defaults.',
    saveVersion: 'Save as new version',
    unset: 'not set',
    compare: 'Changes since',
    equal: 'No differences',
    value: 'Value',
    on: 'Enabled',
    blank: 'empty',
    otherwise: (value: string) => `Default: ${value}`,
  },
  rollouts: {
    usedBy: (tpns: number) => `Used by ${some(tpns, 'terminal', 'terminals')}`,
    versions: (used: { version: number; tpns: number }[]) =>
      used.map((one) => `version ${one.version}: ${one.tpns.toLocaleString('en')}`).join(', '),
    title: (name: string) => `Roll out ${name}`,
    start: 'Roll out',
    who: 'To which terminals?',
    all: (tpns: number) => `All that have another version (${tpns.toLocaleString('en')})`,
    whose: { stores: 'Terminals of some stores', tpns: 'Some terminals' },
    some: (tpns: number) => some(tpns, 'terminal', 'terminals'),
    has: (version: number) => `version ${version}`,
    chosen: (number: number) => `${number.toLocaleString('en')} selected`,
    versionOf: (version: string) => `Version ${version}`,
    none: 'No terminals',
    started: (version: number, tpns: number) =>
      `Version ${version} is on its way to ${some(tpns, 'terminal', 'terminals')}`,
    one: 'Roll-out',
    named: (version: number, when: string) => `version ${version}, ${when}`,
    progress: (of: { pending: number; downloaded: number; stopped: number; replaced: number }) =>
      [
        `${of.downloaded.toLocaleString('en')} downloaded`,
        `${of.pending.toLocaleString('en')} pending`,
        ...(of.stopped ? [`${of.stopped.toLocaleString('en')} kept the old version`] : []),
        ...(of.replaced ? [`${of.replaced.toLocaleString('en')} changed otherwise`] : []),
      ].join(', '),
    because: (reason: string) => `Reason: ${reason}`,
    terminal: 'Terminal',
    store: 'Store',
    device: 'Device',
    state: 'Status',
    version: 'Version',
    noDevice: 'No device',
    seen: (when: string) => `seen ${when}`,
    stop: 'Stop roll-out',
    reason: 'Reason',
    stopping: (pending: number, downloaded: number) =>
      `${some(pending, 'pending terminal goes', 'pending terminals go')} back to the version before. ` +
      `${some(downloaded, 'terminal that has', 'terminals that have')} downloaded the new version ${downloaded === 1 ? 'keeps' : 'keep'} it.`,
    stopped: (tpns: number) =>
      `Roll-out stopped: ${some(tpns, 'terminal keeps', 'terminals keep')} the old version`,
  },
  webhooks: {
    title: 'Webhooks',
    one: 'Webhook',
    missing: 'Webhook not found',
    create: 'New webhook',
    url: 'URL',
    urlHint: 'The HTTPS endpoint that receives events.',
    urlSandbox: 'The endpoint that receives events.',
    useReceiver: 'Use the sandbox receiver',
    receiverHint: 'It accepts every event and keeps the last 1,000.',
    description: 'Description',
    headers: 'Headers',
    headersHint: 'Sent with every request, one per line, such as X-Token: abc.',
    headersKept: (names: string) =>
      `Set: ${names}. Values are not shown. Enter all headers to replace them, or leave this empty to keep them.`,
    headersWrong: 'Write each header on a line of its own, as Name: value.',
    removeHeaders: 'Remove all headers',
    state: 'Status',
    events: 'Events',
    allEvents: 'All events',
    findEvent: 'Search event types',
    noneChosen: 'Select at least one event type.',
    chosen: (choices: number) => `${choices} selected`,
    edit: 'Edit',
    lastSuccess: 'Last success',
    failingSince: 'Failing since',
    never: 'never',
    empty: 'No webhooks yet',
    emptyHint: 'A webhook notifies your server of events, signed and in order.',
    secret: 'Signing secret',
    secretHint: 'Shown only once. Use it to verify that a request comes from Boardwalk.',
    test: 'Send test event',
    rotate: 'Rotate secret',
    rotated:
      'The new secret is shown only once. For 24 hours requests are signed with both secrets, then with the new one only.',
    enable: 'Enable',
    disable: 'Disable',
    remove: 'Delete',
    removal: 'Events are no longer sent to this URL, and its delivery history is deleted.',
    tested: 'Test event sent',
    resent: 'Event sent again',
    resending: 'Each event is sent again with the same ID.',
    resentMany: (events: number) =>
      events === 1 ? '1 event sent again' : `${events} events sent again`,
    recover: 'Recover missed events',
    recovery:
      'Sends every event since then that was not delivered, including those that occurred while the webhook was disabled.',
    recoverNow: 'Send',
    since: 'Since',
    recovered: (events: number) =>
      events === 0 ? 'Nothing was missed' : events === 1 ? '1 event sent' : `${events} events sent`,
    deliveries: 'Deliveries',
    delivery: 'Delivery',
    deliveryMissing: 'Delivery not found',
    nothing: 'No deliveries yet',
    nothingHint: 'Deliveries are kept for 30 days. Send a test event to try the endpoint.',
    allStates: 'All statuses',
    states: { waiting: 'Waiting', delivered: 'Delivered', failed: 'Failed' } as Record<
      string,
      string
    >,
    eventId: 'Event ID',
    created: 'Created',
    finished: 'Finished',
    payload: 'Payload',
    history: 'Attempts',
    attempt: (number: number) => `Attempt ${number}`,
    took: (milliseconds: number) => `${milliseconds} ms`,
    noAnswer: 'No response',
    emptyAnswer: 'The response had no body.',
    noAttempt: 'Not sent yet',
    event: 'Event',
    attempts: 'Attempts',
    answer: 'Response',
    next: 'Next attempt',
    resend: 'Resend',
  },
  people: {
    title: 'People',
    invite: 'Invite someone',
    send: 'Send invitation',
    name: 'Name',
    email: 'E-mail',
    role: 'Role',
    state: 'Status',
    since: 'Since',
    expires: 'Link expires',
    do: 'Actions',
    waiting: 'Invited',
    empty: 'No one can sign in for this ISO yet',
    fields: { merchantId: 'Merchant', storeId: 'Store' } as Record<string, string>,
    explains: {
      iso_admin: 'Can do everything, including API keys, webhooks and people.',
      iso_staff: 'Onboards and manages merchants. No API keys, credentials or people.',
      merchant: 'Sees the sales of one merchant.',
      store: 'Sees the sales of one store.',
    } as Record<string, string>,
    invited: (email: string) => `Invitation sent to ${email}`,
    resend: 'Resend',
    withdraw: 'Withdraw',
    withdrawal: (email: string) => `Withdraw the invitation to ${email}?`,
    withdrawn: 'The link in the e-mail stops working.',
    change: 'Change role',
    changing: (name: string) => `Role of ${name}`,
    remove: 'Remove',
    removal: (name: string) => `Remove ${name}?`,
    removed: 'The account is deleted, and all its sessions end. This cannot be undone.',
  },
  isos: {
    title: 'ISOs',
    name: 'Name',
    state: 'Status',
    contact: 'Contact',
    since: 'Registered',
    do: 'Actions',
    decisions: {
      approve: 'Approve',
      reject: 'Reject',
      suspend: 'Suspend',
      resume: 'Resume',
    } as Record<string, string>,
    results: {
      approve: 'approved',
      reject: 'rejected',
      suspend: 'suspended',
      resume: 'resumed',
    } as Record<string, string>,
    consequences: {
      reject: 'This permanently rejects the registration.',
      suspend: 'You can read everything meanwhile, and resume the ISO at any time.',
    } as Record<string, string>,
    asks: (decision: string, name: string) => `${decision} ${name}?`,
    reason: 'Reason',
    reasonHint: 'The ISO reads it, and the audit log keeps it.',
    notified: (email: string) => `${email} is notified by e-mail.`,
    notNotified: 'The ISO has no e-mail address, so nobody is notified.',
    /** What a suspension stops, and what goes on. */
    effects: (usage: Usage) =>
      (
        [
          [usage.keys, 'API key is rejected.', 'API keys are rejected.'],
          [usage.people, 'person loses access to its pages.', 'people lose access to its pages.'],
          [
            usage.merchants,
            'merchant cannot be changed, and no others can be onboarded.',
            'merchants cannot be changed, and no others can be onboarded.',
          ],
          [
            usage.devices,
            'device gets no parameters and no payments.',
            'devices get no parameters and no payments.',
          ],
          [
            usage.webhooks,
            'webhook is still sent events, such as this one.',
            'webhooks are still sent events, such as this one.',
          ],
          [
            usage.merchantPeople,
            'user of its merchants and stores still sees their sales.',
            'users of its merchants and stores still see their sales.',
          ],
        ] as [number, string, string][]
      )
        // What it has none of, nothing can be said about; merchants are what an ISO is for.
        .filter(([number], index) => number > 0 || index === 2)
        .map(([number, one, many]) => some(number, one, many)),
    missing: 'ISO not found',
    pages: 'Pages of this ISO',
    contactName: 'Name',
    email: 'E-mail',
    phone: 'Phone',
    website: 'Website',
    usage: 'Limits and usage',
    what: 'Of what',
    used: 'Used',
    limit: 'Limit',
    unlimited: 'none',
    usual: 'default',
    counted: {
      merchants: 'Merchants',
      stores: 'Stores',
      tpns: 'Terminals',
      onboardings: 'Onboardings in 24 hours',
      devices: 'Paired devices',
      webhooks: 'Webhooks',
      people: 'People',
      merchantPeople: 'Users of merchants and stores',
      keys: 'API keys',
      requests: 'Requests per second and key',
    },
    inactive: (status: string, reason: string | null) =>
      `${states[status] ?? 'Not active'}${reason ? `: ${reason.replace(/\.$/, '')}` : ''}. ` +
      'You can read everything of this ISO; nothing can be changed until it is active.',
    manage: 'Manage',
    done: (name: string, result: string) => `${name} ${result}`,
  },
  events: {
    title: 'Events',
    explain:
      'Every change is an event with a gapless number. Remember the last number that you processed, and you miss nothing.',
    filter: 'All event types',
    empty: 'No events yet',
    number: 'Number',
    type: 'Type',
    object: 'Object',
    when: 'Time',
  },
  audit: {
    title: 'Audit log',
    verify: 'Verify log',
    broken: 'The log has been altered.',
    filter: 'Object ID',
    empty: 'No entries yet',
    number: 'Number',
    when: 'Time',
    who: 'Actor',
    what: 'Action',
    object: 'Object',
    result: 'Result',
    intact: (entries: number) => `Intact: ${entries} entries, none altered or missing`,
  },
};
