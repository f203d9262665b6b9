// Written by scripts/types.mjs from the OpenAPI documents of the server; `cargo xtask generate portal`
// writes it again.

export type Merchant = {
  /** Id of the merchant. */
  merchantId: string;
  /** State of the merchant. */
  status: string;
  /** Why it is in that state, if somebody said so. */
  statusReason: string | null;
  /** Grows by one with every change. */
  version: number;
  /** Trading name. */
  dba: string;
  /** ZIP code. */
  zipCode: string;
  /** City of the ZIP code. */
  city: string;
  /** State of the ZIP code. */
  state: string;
  /** EBT number of all stores that have none of their own. */
  ebt: string | null;
  /** The ISO's reference of the agent. */
  isoAgentReference: string | null;
  /** The ISO's own number of the merchant. */
  isoMerchant: string | null;
  /** Address of the logo. */
  merchantLogoUrl: string | null;
  /** The ISO's own reference of any kind. */
  externalReference: string | null;
  /** What the ISO notes about it. */
  metadata: Record<string, string>;
  /** The person to talk to. */
  contact: {
    /** First name. */
    firstName: string;
    /** Last name. */
    lastName: string | null;
    /** E-mail address. */
    email: string;
    /** First line of the street address. */
    addressLine1: string;
    /** Second line of the street address. */
    addressLine2: string | null;
    /** Phone number without the country's calling code. */
    phoneNumber: string;
    /** Country calling code. */
    ISDcode: string;
  };
  /** When it was created. */
  created: string;
  /** When it got this version. */
  updated: string;
};

export type Store = {
  /** Id of the store. */
  storeId: string;
  /** Id of its merchant. */
  merchantId: string;
  /** State of the store. */
  status: string;
  /** Why it is in that state, if somebody said so. */
  statusReason: string | null;
  /** The worst of its own state and its merchant's. */
  effectiveStatus: string;
  /** Grows by one with every change. */
  version: number;
  /** Trading name. */
  dba: string;
  /** Merchant category code. */
  mccCode: string;
  /** ZIP code. */
  zipCode: string;
  /** City of the ZIP code. */
  city: string;
  /** State of the ZIP code. */
  state: string;
  /** The store's own EBT number. */
  ebt: string | null;
  /** The number in force: the store's own, else its merchant's. */
  effectiveEbt: string | null;
  /** The ISO's own reference of any kind. */
  externalReference: string | null;
  /** What the ISO notes about it. */
  metadata: Record<string, string>;
  /** The person to talk to. */
  contact: {
    /** First name. */
    firstName: string;
    /** Last name. */
    lastName: string | null;
    /** E-mail address. */
    email: string;
    /** First line of the street address. */
    addressLine1: string;
    /** Second line of the street address. */
    addressLine2: string | null;
    /** Phone number without the country's calling code. */
    phoneNumber: string;
    /** Country calling code. */
    ISDcode: string;
  };
  /** When it was created. */
  created: string;
  /** When it got this version. */
  updated: string;
};

export type Tpn = {
  /** The TPN number. */
  tpn: string;
  /** Id of its merchant. */
  merchantId: string;
  /** Id of its store; none while it waits in the merchant's pool. */
  storeId: string | null;
  /** State of the TPN. */
  status: string;
  /** Why it is in that state, if somebody said so. */
  statusReason: string | null;
  /** The worst of its own state, its store's and its merchant's. */
  effectiveStatus: string;
  /** Grows by one with every change. */
  version: number;
  /** Maker of the device. */
  deviceManufacturer: string;
  /** Model of the device. */
  deviceModel: string;
  /** Application of the terminal. */
  tpnApplicationSign: string;
  /** How the terminal routes transactions. */
  tpnRoutingType: string;
  /** Label shown for the terminal. */
  defaultLabel: string | null;
  /** Name of the assigned template. */
  tpnAssignTemplate: string | null;
  /** Version of the template that the TPN was given. */
  templateVersion: number | null;
  /** Bank identification number of all profiles that have none of their own. */
  tpnBin: string | null;
  /** Processor and accounts; credentials are never shown. */
  tpnProcessor: {
    /** Name of the processor. */
    processorName: string;
    /** Its accounts. */
    profile: ({
      /** 01 with fee, 02 without fee. */
      profileId: string;
      /** Whether the processor accepted the credentials. */
      status: string;
      /** Bank identification number. */
      tpnBin: string | null;
      /** The fields that identify the account. */
      identifiers: Record<string, unknown>;
    })[];
  };
  /** The device that is bound to it now. */
  device: {
    /** Id of the device on this TPN. */
    deviceId: string;
    /** What the device said its serial number is. */
    serialNumber: string;
    /** When it was paired. */
    bound: string;
    /** When it last asked for its parameters. */
    lastSeen: string | null;
  } | null;
  /** The ISO's own reference of any kind. */
  externalReference: string | null;
  /** What the ISO notes about it. */
  metadata: Record<string, string>;
  /** When it was created. */
  created: string;
  /** When it got this version. */
  updated: string;
};

export type Requirements = {
  /** Id of the merchant. */
  merchantId: string;
  /** State of the merchant. */
  status: string;
  /** What is lacking, of up to 100 stores and TPNs. */
  requirements: {
    /** A stable code. */
    code: string;
    /** What to do. */
    message: string;
    /** The field, or the id of the store or TPN, that it is about; empty for the merchant itself. */
    param: string;
  }[];
};

export type Duplicate = {
  /** Id of the other merchant. */
  merchantId: string;
  /** Its trading name. */
  dba: string;
  /** Its state. */
  status: string;
  /** From 30, a little alike, to 100, surely the same. */
  score: number;
  /** What agrees: `dba`, `email`, `phone`, `address`. */
  reasons: string[];
};

export type ApiKey = {
  /** Id of the key: its public part. */
  keyId: string;
  /** What it is for. */
  name: string;
  /** What it may do; `*` is everything. */
  scopes: string[];
  /** Addresses and networks from which it may be used; empty for all. */
  allowedIps: string[];
  /** `live`, `expired` or `revoked`. */
  status: string;
  /** Who made it. */
  createdBy: string;
  /** When it was made. */
  created: string;
  /** When it ends; null for never. */
  expires: string | null;
  /** When it was revoked. */
  revoked: string | null;
  /** When it was used last, to the minute. */
  lastUsed: string | null;
  /** From where it was used then. */
  lastIp: string | null;
};

export type Template = {
  /** Id of the template. */
  templateId: string;
  /** What `tpnAssignTemplate` says. */
  name: string;
  /** `active`, or `retired` when no TPN can be given it any more. */
  status: string;
  /** The version that is shown. */
  version: number;
  /** What it sets; all else is taken from the layers below. */
  parameters: Record<string, unknown>;
  /** When it was created. */
  created: string;
  /** When it last changed. */
  updated: string;
};

export type Webhook = {
  /** Id of the webhook. */
  webhookId: string;
  /** Where events are sent. */
  url: string;
  /** What it is for. */
  description: string | null;
  /** Kinds of events that are sent. */
  events: string[];
  /** Header fields that go along; values are not shown. */
  headers: {
    /** Name of the field. */
    name: string;
    /** Always `***`. */
    value: string;
  }[];
  /** `enabled` or `disabled`. */
  status: string;
  /** Why it is disabled. */
  disabledReason: string | null;
  /** Grows by one with every change. */
  version: number;
  /** Since when nothing has been taken. */
  failingSince: string | null;
  /** When something was taken last. */
  lastSuccess: string | null;
  /** Until when the secret before the last rotation signs as well. */
  oldSecretUntil: string | null;
  /** When it was created. */
  created: string;
  /** When it was changed last. */
  updated: string;
};

export type Delivery = {
  /** Id of the delivery. */
  deliveryId: string;
  /** Id of the event: what `webhook-id` says. */
  eventId: string;
  /** Kind of the event. */
  eventType: string;
  /** `waiting`, `delivered` or `failed`. */
  status: string;
  /** How often it was sent. */
  attempts: number;
  /** Status of the last answer; null when there was none. */
  responseStatus: number | null;
  /** When it is to be sent, at the earliest; null when that is over. */
  nextAttempt: string | null;
  /** When it was made. */
  created: string;
  /** When it was delivered or given up. */
  finished: string | null;
};

export type OutboxEvent = {
  /** What happened, such as `merchant.created`. */
  type: string;
  /** When it happened. */
  timestamp: string;
  /** Id of the event; the same in this list and in webhooks. */
  id: string;
  /** Number of the event; an ISO's numbers have no gaps. */
  sequence: number;
  /** `sandbox` or `production`. */
  environment: string;
  /** The object it happened to, with its version and the names of changed fields. */
  data: unknown;
};

export type AuditEntry = {
  /** Number of the entry; an ISO's numbers have no gaps. */
  sequence: number;
  /** When it was done. */
  time: string;
  /** Who did it. */
  actor: string;
  /** From which address. */
  ip: string | null;
  /** In which request. */
  requestId: string | null;
  /** What was done. */
  action: string;
  /** To what kind of object. */
  object: string;
  /** To which one. */
  objectId: string;
  /** Other objects that the same change made or touched. */
  related: string[];
  /** Version of the object before. */
  versionBefore: number | null;
  /** Version of the object after. */
  versionAfter: number | null;
  /** Fields that changed, with values where these may be read. */
  changes: unknown;
  /** `done` or `refused`. */
  result: string;
  /** Why. */
  reason: string | null;
  /** Hash of the entry before, as hexadecimal digits; empty for the first. */
  previousHash: string;
  /** Hash of this entry and the one before. */
  hash: string;
};

export type AuditVerdict = {
  /** Whether nothing is wrong with the entries that were looked at. */
  valid: boolean;
  /** How many entries were looked at. */
  checked: number;
  /** Where to go on; null when the end was reached. */
  next: number | null;
  /** Number of the last entry. */
  sequence: number;
  /** Hash of the last entry. Keep it, with its number: later logs must contain it. */
  hash: string;
  /** Proof of number and hash by the installation's key. */
  seal: string;
  /** When it was looked at. */
  time: string;
  /** The first faults. */
  faults: {
    /** Number of the entry. */
    sequence: number;
    /** What is wrong with it. */
    message: string;
  }[];
};

export type Me = {
  /** Who asks. */
  user: {
    /** Number of the user. */
    id: number;
    /** Name for signing in. */
    login: string;
    /** Name that others see. */
    name: string;
    /** E-mail address. */
    email: string;
    /** Roles of the user. */
    roles: string[];
    /** What the user may do. */
    capabilities: string[];
    /** The ISO that the user works for. */
    iso_id: string | null;
    /** The merchant whose sales alone the user sees. */
    merchant_id: string | null;
    /** The store whose sales alone the user sees. */
    store_id: string | null;
  };
  /** Where that is. */
  site: {
    /** Name of the site. */
    name: string;
    /** Sandbox or production. */
    environment: string;
    /** Addresses of all environments by name. */
    environments: Record<string, unknown>;
    /** Time zone of the site, or its distance from UTC. */
    timezone: string;
    /** First day of the week; 0 is Sunday. */
    start_of_week: number;
    /** Version of the server. */
    version: string;
  };
};

export type ConsumerKey = {
  /** Number of the key. */
  id: number;
  /** What the key is for. */
  description: string;
  /** What it may do. */
  permissions: "read" | "write" | "read_write";
  /** The end of the key. */
  truncated_key: string;
  /** When it was made, in UTC. */
  created: string;
  /** When it was used last, in UTC. */
  last_access: string | null;
  /** The key; shown once. */
  consumer_key: string;
  /** Its secret; shown once. */
  consumer_secret: string;
};

export type ApplicationPassword = {
  /** Its id. */
  uuid: string;
  /** A UUID that the application gave itself. */
  app_id: string | "";
  /** Name of the application. */
  name: string;
  /** The password; shown once. */
  password: string;
  /** When it was made, in UTC. */
  created: string;
  /** When it was used last, in UTC. */
  last_used: string | null;
  /** Where it was used from. */
  last_ip: string | null;
};

export type Order = {
  /** Number of the order. */
  id: number;
  /** Number of the order above this one. */
  parent_id: number;
  /** What people call the order. */
  number: string;
  /** Secret that lets a guest see the order. */
  order_key: string;
  /** Where the order was made. */
  created_via: string;
  /** Version of the software that last wrote the order. */
  version: string;
  /** Where the order stands. */
  status: "auto-draft" | "pending" | "processing" | "on-hold" | "completed" | "cancelled" | "refunded" | "failed" | "checkout-draft";
  /** Currency in which the order was made, by its code. */
  currency: "AED" | "AFN" | "ALL" | "AMD" | "ANG" | "AOA" | "ARS" | "AUD" | "AWG" | "AZN" | "BAM" | "BBD" | "BDT" | "BGN" | "BHD" | "BIF" | "BMD" | "BND" | "BOB" | "BRL" | "BSD" | "BTC" | "BTN" | "BWP" | "BYR" | "BYN" | "BZD" | "CAD" | "CDF" | "CHF" | "CLP" | "CNY" | "COP" | "CRC" | "CUC" | "CUP" | "CVE" | "CZK" | "DJF" | "DKK" | "DOP" | "DZD" | "EGP" | "ERN" | "ETB" | "EUR" | "FJD" | "FKP" | "GBP" | "GEL" | "GGP" | "GHS" | "GIP" | "GMD" | "GNF" | "GTQ" | "GYD" | "HKD" | "HNL" | "HRK" | "HTG" | "HUF" | "IDR" | "ILS" | "IMP" | "INR" | "IQD" | "IRR" | "IRT" | "ISK" | "JEP" | "JMD" | "JOD" | "JPY" | "KES" | "KGS" | "KHR" | "KMF" | "KPW" | "KRW" | "KWD" | "KYD" | "KZT" | "LAK" | "LBP" | "LKR" | "LRD" | "LSL" | "LYD" | "MAD" | "MDL" | "MGA" | "MKD" | "MMK" | "MNT" | "MOP" | "MRU" | "MUR" | "MVR" | "MWK" | "MXN" | "MYR" | "MZN" | "NAD" | "NGN" | "NIO" | "NOK" | "NPR" | "NZD" | "OMR" | "PAB" | "PEN" | "PGK" | "PHP" | "PKR" | "PLN" | "PRB" | "PYG" | "QAR" | "RON" | "RSD" | "RUB" | "RWF" | "SAR" | "SBD" | "SCR" | "SDG" | "SEK" | "SGD" | "SHP" | "SLL" | "SOS" | "SRD" | "SSP" | "STN" | "SYP" | "SZL" | "THB" | "TJS" | "TMT" | "TND" | "TOP" | "TRY" | "TTD" | "TWD" | "TZS" | "UAH" | "UGX" | "USD" | "UYU" | "UZS" | "VEF" | "VES" | "VND" | "VUV" | "WST" | "XAF" | "XCD" | "XOF" | "XPF" | "YER" | "ZAR" | "ZMW";
  /** Sign of the currency. */
  currency_symbol: string;
  /** When it was made, in the site's time. */
  date_created: unknown;
  /** When it was made, in GMT. */
  date_created_gmt: unknown;
  /** When it was last changed, in the site's time. */
  date_modified: unknown;
  /** When it was last changed, in GMT. */
  date_modified_gmt: unknown;
  /** What was taken off. */
  discount_total: string;
  /** Taxes on what was taken off. */
  discount_tax: string;
  /** What shipping costs. */
  shipping_total: string;
  /** Taxes on shipping. */
  shipping_tax: string;
  /** Taxes on products and fees. */
  cart_tax: string;
  /** What is to be paid. */
  total: string;
  /** All taxes together. */
  total_tax: string;
  /** Whether prices had taxes in them. */
  prices_include_tax: boolean;
  /** User who bought; 0 for a guest. */
  customer_id: number;
  /** Network address of the buyer. */
  customer_ip_address: string;
  /** Program of the buyer. */
  customer_user_agent: string;
  /** What the buyer wants the shop to know. */
  customer_note: string;
  /** Where to send the bill. */
  billing: {
    /** First name. */
    first_name: string;
    /** Last name. */
    last_name: string;
    /** Company. */
    company: string;
    /** First line of the address. */
    address_1: string;
    /** Second line of the address. */
    address_2: string;
    /** City. */
    city: string;
    /** Code or name of the state. */
    state: string;
    /** Postal code. */
    postcode: string;
    /** Country by its code of two letters. */
    country: string;
    /** E-mail address. */
    email: string | null;
    /** Phone number. */
    phone: string;
  };
  /** Where to send the goods. */
  shipping: {
    /** First name. */
    first_name: string;
    /** Last name. */
    last_name: string;
    /** Company. */
    company: string;
    /** First line of the address. */
    address_1: string;
    /** Second line of the address. */
    address_2: string;
    /** City. */
    city: string;
    /** Code or name of the state. */
    state: string;
    /** Postal code. */
    postcode: string;
    /** Country by its code of two letters. */
    country: string;
  };
  /** Id of the way to pay. */
  payment_method: string;
  /** How the way to pay is called. */
  payment_method_title: string;
  /** Id that the provider gave the payment. */
  transaction_id: string;
  /** When it was paid, in the site's time. */
  date_paid: unknown;
  /** When it was paid, in GMT. */
  date_paid_gmt: unknown;
  /** When it was completed, in the site's time. */
  date_completed: unknown;
  /** When it was completed, in GMT. */
  date_completed_gmt: unknown;
  /** Fingerprint of the cart. */
  cart_hash: string;
  /** Names and values that others keep here. */
  meta_data: {
    /** Number of the entry. */
    id: number;
    /** Name of the entry. */
    key: string;
    /** What it holds. */
    value: unknown;
  }[];
  /** What is sold. */
  line_items: {
    /** Number of the line. */
    id: number;
    /** Name of the product. */
    name: unknown;
    /** Name of the product of a variation. */
    parent_name: string;
    /** Number of the product. */
    product_id: unknown;
    /** Number of the variation, if it is one. */
    variation_id: number;
    /** How many are sold. */
    quantity: number;
    /** Slug of the tax class. */
    tax_class: string;
    /** What the line costs before discounts. */
    subtotal: string;
    /** Taxes before discounts. */
    subtotal_tax: string;
    /** What the line costs. */
    total: string;
    /** Taxes on the line. */
    total_tax: string;
    /** Taxes by rate. */
    taxes: {
      /** Number of the rate. */
      id: number;
      /** Tax on the total. */
      total: string;
      /** Tax before discounts. */
      subtotal: string;
    }[];
    /** Names and values that others keep here. */
    meta_data: {
      /** Number of the entry. */
      id: number;
      /** Name of the entry. */
      key: string;
      /** What it holds. */
      value: unknown;
      /** The name as people read it. */
      display_key: string;
      /** The value as people read it. */
      display_value: string;
    }[];
    /** The product's own code. */
    sku: string;
    /** The product's number in the world. */
    global_unique_id: string;
    /** What one costs. */
    price: number;
    /** Picture of the product. */
    image: {
      /** Number of the picture. */
      id: number;
      /** Address of the picture. */
      src: string;
    };
  }[];
  /** Taxes by rate. */
  tax_lines: {
    /** Number of the line. */
    id: number;
    /** Code of the rate. */
    rate_code: string;
    /** Number of the rate. */
    rate_id: number;
    /** Name of the rate. */
    label: string;
    /** Whether it is on top of other taxes. */
    compound: boolean;
    /** Tax on products and fees. */
    tax_total: string;
    /** Tax on shipping. */
    shipping_tax_total: string;
    /** The rate in percent. */
    rate_percent: number;
    /** Names and values that others keep here. */
    meta_data: {
      /** Number of the entry. */
      id: number;
      /** Name of the entry. */
      key: string;
      /** What it holds. */
      value: unknown;
    }[];
  }[];
  /** How the goods are sent. */
  shipping_lines: {
    /** Number of the line. */
    id: number;
    /** How the way of shipping is called. */
    method_title: unknown;
    /** Id of the way of shipping. */
    method_id: unknown;
    /** Where it is set up. */
    instance_id: string;
    /** What the line costs. */
    total: string;
    /** Taxes on the line. */
    total_tax: string;
    /** Taxes by rate. */
    taxes: {
      /** Number of the rate. */
      id: number;
      /** Tax on the total. */
      total: string;
    }[];
    /** Names and values that others keep here. */
    meta_data: {
      /** Number of the entry. */
      id: number;
      /** Name of the entry. */
      key: string;
      /** What it holds. */
      value: unknown;
    }[];
  }[];
  /** Fees. */
  fee_lines: ({
    /** Number of the line. */
    id: number;
    /** What the fee is for. */
    name: unknown;
    /** Slug of the tax class. */
    tax_class: string;
    /** Whether it is taxed. */
    tax_status: "taxable" | "none";
    /** What the line costs. */
    total: string;
    /** Taxes on the line. */
    total_tax: string;
    /** Taxes by rate. */
    taxes: {
      /** Number of the rate. */
      id: number;
      /** Tax on the total. */
      total: string;
      /** Tax before discounts. */
      subtotal: string;
    }[];
    /** Names and values that others keep here. */
    meta_data: {
      /** Number of the entry. */
      id: number;
      /** Name of the entry. */
      key: string;
      /** What it holds. */
      value: unknown;
    }[];
  })[];
  /** Coupons that were used. */
  coupon_lines: {
    /** Number of the line. */
    id: number;
    /** Code of the coupon. */
    code: unknown;
    /** What it takes off. */
    discount: string;
    /** Taxes on what it takes off. */
    discount_tax: string;
    /** Kind of the discount. */
    discount_type: string;
    /** Amount that the coupon says. */
    nominal_amount: number;
    /** Whether it makes shipping free. */
    free_shipping: boolean;
    /** Names and values that others keep here. */
    meta_data: {
      /** Number of the entry. */
      id: number;
      /** Name of the entry. */
      key: string;
      /** What it holds. */
      value: unknown;
    }[];
  }[];
  /** What was paid back. */
  refunds: {
    /** Number of the refund. */
    id: number;
    /** Why it was paid back. */
    reason: string;
    /** How much was paid back, as a negative number. */
    total: string;
  }[];
  /** Where the buyer can pay. */
  payment_url: string;
  /** Whether its lines may still change. */
  is_editable: boolean;
  /** Whether it is still to be paid. */
  needs_payment: boolean;
  /** Whether somebody has to act on it. */
  needs_processing: boolean;
  /** Whether to take the order as paid. */
  set_paid: boolean;
  /** Whether a person changes the status. */
  manual_update: boolean;
};

export type OrderNote = {
  /** Number of the note. */
  id: number;
  /** Who wrote it. */
  author: string;
  /** When it was made, in the site's time. */
  date_created: unknown;
  /** When it was made, in GMT. */
  date_created_gmt: unknown;
  /** What it says. */
  note: string;
  /** Whether the customer is told. */
  customer_note: boolean;
  /** Whether a person wrote it. */
  added_by_user: boolean;
};

export type Product = {
  /** Number of the product. */
  id: number;
  /** Name of the product. */
  name: string;
  /** Name of the product in addresses. */
  slug: string;
  /** Address of the product's page. */
  permalink: string;
  /** When it was made, in the site's time. */
  date_created: unknown;
  /** When it was made, in GMT. */
  date_created_gmt: unknown;
  /** When it was last changed, in the site's time. */
  date_modified: unknown;
  /** When it was last changed, in GMT. */
  date_modified_gmt: unknown;
  /** Kind of product. */
  type: "simple" | "grouped" | "external" | "variable";
  /** Whether it is published. */
  status: "draft" | "pending" | "private" | "publish" | "future" | "auto-draft" | "trash";
  /** Whether it is put forward. */
  featured: boolean;
  /** Where it is listed. */
  catalog_visibility: "visible" | "catalog" | "search" | "hidden";
  /** What it is. */
  description: string;
  /** What it is, in a few words. */
  short_description: string;
  /** The shop's own number for it. */
  sku: string;
  /** Its GTIN, UPC, EAN or ISBN. */
  global_unique_id: string;
  /** What it costs now. */
  price: string;
  /** What it costs without a sale. */
  regular_price: string;
  /** What it costs in a sale. */
  sale_price: string;
  /** When the sale begins, in the site's time. */
  date_on_sale_from: unknown;
  /** When the sale begins, in GMT. */
  date_on_sale_from_gmt: unknown;
  /** When the sale ends, in the site's time. */
  date_on_sale_to: unknown;
  /** When the sale ends, in GMT. */
  date_on_sale_to_gmt: unknown;
  /** The price as the shop window shows it. */
  price_html: string;
  /** Whether there is a sale. */
  on_sale: boolean;
  /** Whether it can be bought. */
  purchasable: boolean;
  /** How many were sold. */
  total_sales: number;
  /** Whether it is nothing to ship. */
  virtual: boolean;
  /** Whether buyers get files. */
  downloadable: boolean;
  /** Files that buyers get. */
  downloads: {
    /** Id of the file. */
    id: string;
    /** Name of the file. */
    name: string;
    /** Address of the file. */
    file: string;
  }[];
  /** How often a file may be fetched. */
  download_limit: number;
  /** For how many days files may be fetched. */
  download_expiry: number;
  /** Where an external product is sold. */
  external_url: string;
  /** What the button of an external product says. */
  button_text: string;
  /** What of it is taxed. */
  tax_status: "taxable" | "shipping" | "none";
  /** Its class of taxes. */
  tax_class: string;
  /** Whether its stock is counted. */
  manage_stock: boolean;
  /** How many there are. */
  stock_quantity: number;
  /** Whether it can be had. */
  stock_status: "instock" | "outofstock" | "onbackorder";
  /** Whether more can be ordered than there are. */
  backorders: "no" | "notify" | "yes";
  /** Whether more can be ordered. */
  backorders_allowed: boolean;
  /** Whether more were ordered than there are. */
  backordered: boolean;
  /** From which quantity on there are few. */
  low_stock_amount: number | null;
  /** Whether an order has one at most. */
  sold_individually: boolean;
  /** How heavy it is. */
  weight: string;
  /** How large it is. */
  dimensions: {
    /** Length. */
    length: string;
    /** Width. */
    width: string;
    /** Height. */
    height: string;
  };
  /** Whether it must be shipped. */
  shipping_required: boolean;
  /** Whether shipping it is taxed. */
  shipping_taxable: boolean;
  /** Its class of shipping. */
  shipping_class: string;
  /** Number of the class of shipping. */
  shipping_class_id: string;
  /** Whether it can be reviewed. */
  reviews_allowed: boolean;
  /** The password that its page asks for. */
  post_password: string;
  /** What reviews come to. */
  average_rating: string;
  /** How many reviews rate it. */
  rating_count: number;
  /** Products that are like it. */
  related_ids: number[];
  /** Better products to offer instead. */
  upsell_ids: number[];
  /** Products to offer with it. */
  cross_sell_ids: number[];
  /** The product that it belongs to. */
  parent_id: number;
  /** What buyers are told. */
  purchase_note: string;
  /** Categories. */
  categories: {
    /** Its number. */
    id: number;
    /** Its name. */
    name: string;
    /** Its name in addresses. */
    slug: string;
  }[];
  /** Brands. */
  brands: {
    /** Its number. */
    id: number;
    /** Its name. */
    name: string;
    /** Its name in addresses. */
    slug: string;
  }[];
  /** Tags. */
  tags: {
    /** Its number. */
    id: number;
    /** Its name. */
    name: string;
    /** Its name in addresses. */
    slug: string;
  }[];
  /** Pictures, by their addresses. */
  images: {
    /** Number of the picture. */
    id: number;
    /** When it was added or changed. */
    date_created: unknown;
    /** When it was added or changed. */
    date_created_gmt: unknown;
    /** When it was added or changed. */
    date_modified: unknown;
    /** When it was added or changed. */
    date_modified_gmt: unknown;
    /** Its address. */
    src: string;
    /** Its name. */
    name: string;
    /** What it shows, in words. */
    alt: string;
  }[];
  /** Whether buyers choose something. */
  has_options: boolean;
  /** Attributes. */
  attributes: {
    /** Number of an attribute of the shop. */
    id: number;
    /** Its name. */
    name: string;
    /** Its place. */
    position: number;
    /** Whether it is shown. */
    visible: boolean;
    /** Whether variations differ by it. */
    variation: boolean;
    /** Its values. */
    options: string[];
  }[];
  /** What is chosen at first. */
  default_attributes: {
    /** Number of an attribute of the shop. */
    id: number;
    /** Its name. */
    name: string;
    /** The value. */
    option: string;
  }[];
  /** Its variations. */
  variations: number[];
  /** What a grouped product consists of. */
  grouped_products: number[];
  /** Its place in lists. */
  menu_order: number;
  /** Names and values that others keep here. */
  meta_data: {
    /** Number of the entry. */
    id: number;
    /** Name of the entry. */
    key: string;
    /** What it holds. */
    value: unknown;
  }[];
  /** Address with a gap for the slug. */
  permalink_template: string;
  /** The slug that its name would give. */
  generated_slug: string;
};

export type Variation = {
  /** Number of the variation. */
  id: number;
  /** Kind of product. */
  type: string;
  /** When it was made, in the site's time. */
  date_created: unknown;
  /** When it was last changed, in the site's time. */
  date_modified: unknown;
  /** What it is. */
  description: string;
  /** Address of its page. */
  permalink: string;
  /** The shop's own number for it. */
  sku: string;
  /** Its GTIN, UPC, EAN or ISBN. */
  global_unique_id: string;
  /** What it costs now. */
  price: string;
  /** What it costs without a sale. */
  regular_price: string;
  /** What it costs in a sale. */
  sale_price: string;
  /** When the sale begins, in the site's time. */
  date_on_sale_from: unknown;
  /** When the sale begins, in GMT. */
  date_on_sale_from_gmt: unknown;
  /** When the sale ends, in the site's time. */
  date_on_sale_to: unknown;
  /** When the sale ends, in GMT. */
  date_on_sale_to_gmt: unknown;
  /** Whether there is a sale. */
  on_sale: boolean;
  /** Whether it is published. */
  status: "draft" | "pending" | "private" | "publish";
  /** Whether it can be bought. */
  purchasable: boolean;
  /** Whether it is nothing to ship. */
  virtual: boolean;
  /** Whether buyers get files. */
  downloadable: boolean;
  /** Files that buyers get. */
  downloads: {
    /** Id of the file. */
    id: string;
    /** Name of the file. */
    name: string;
    /** Address of the file. */
    file: string;
  }[];
  /** How often a file may be fetched. */
  download_limit: number;
  /** For how many days files may be fetched. */
  download_expiry: number;
  /** What of it is taxed. */
  tax_status: "taxable" | "shipping" | "none";
  /** Its class of taxes. */
  tax_class: string;
  /** Whether its stock is counted, by itself or with its product. */
  manage_stock: boolean | string;
  /** How many there are. */
  stock_quantity: number;
  /** Whether it can be had. */
  stock_status: "instock" | "outofstock" | "onbackorder";
  /** Whether more can be ordered than there are. */
  backorders: "no" | "notify" | "yes";
  /** Whether more can be ordered. */
  backorders_allowed: boolean;
  /** Whether more were ordered than there are. */
  backordered: boolean;
  /** From which quantity on there are few. */
  low_stock_amount: number | null;
  /** How heavy it is. */
  weight: string;
  /** How large it is. */
  dimensions: {
    /** Length. */
    length: string;
    /** Width. */
    width: string;
    /** Height. */
    height: string;
  };
  /** Its class of shipping. */
  shipping_class: string;
  /** Number of the class of shipping. */
  shipping_class_id: string;
  /** Its picture, by its address. */
  image: {
    /** Number of the picture. */
    id: number;
    /** When it was added or changed. */
    date_created: unknown;
    /** When it was added or changed. */
    date_created_gmt: unknown;
    /** When it was added or changed. */
    date_modified: unknown;
    /** When it was added or changed. */
    date_modified_gmt: unknown;
    /** Its address. */
    src: string;
    /** Its name. */
    name: string;
    /** What it shows, in words. */
    alt: string;
  };
  /** Numbers of more pictures. */
  gallery_image_ids: number[];
  /** What makes it differ. */
  attributes: {
    /** Number of an attribute of the shop. */
    id: number;
    /** Its name. */
    name: string;
    /** The value. */
    option: string;
  }[];
  /** Its place in lists. */
  menu_order: number;
  /** Names and values that others keep here. */
  meta_data: {
    /** Number of the entry. */
    id: number;
    /** Name of the entry. */
    key: string;
    /** What it holds. */
    value: unknown;
  }[];
  /** Number of the product. */
  parent_id: number;
};

export type Coupon = {
  /** Number of the coupon. */
  id: number;
  /** What customers type in. */
  code: string;
  /** How much is taken off: money or percent, by the kind. */
  amount: number | string;
  /** Whether it is published, a draft or to be reviewed. */
  status: string;
  /** When it was made, in the site's time. */
  date_created: unknown;
  /** When it was made, in GMT. */
  date_created_gmt: unknown;
  /** When it was changed last, in the site's time. */
  date_modified: unknown;
  /** When it was changed last, in GMT. */
  date_modified_gmt: unknown;
  /** How the discount is reckoned. */
  discount_type: "percent" | "fixed_cart" | "fixed_product";
  /** What it is for; customers do not see it. */
  description: string;
  /** From when on it is not taken, in the site's time. */
  date_expires: unknown;
  /** From when on it is not taken, in GMT. */
  date_expires_gmt: unknown;
  /** How often it was used. */
  usage_count: number;
  /** Whether it excludes all other coupons. */
  individual_use: boolean;
  /** Products that it is for. */
  product_ids: number[];
  /** Products that it is not for. */
  excluded_product_ids: number[];
  /** How often it can be used in all. */
  usage_limit: number;
  /** How often one customer can use it. */
  usage_limit_per_user: number;
  /** To how many items of an order it applies. */
  limit_usage_to_x_items: number;
  /** Whether it makes free shipping available. */
  free_shipping: boolean;
  /** Categories that it is for. */
  product_categories: number[];
  /** Categories that it is not for. */
  excluded_product_categories: number[];
  /** Whether it leaves out what is on sale. */
  exclude_sale_items: boolean;
  /** What an order must come to before it applies. */
  minimum_amount: number | string;
  /** Up to which amount of an order it applies. */
  maximum_amount: number | string;
  /** Addresses of the customers that it is for. */
  email_restrictions: string[];
  /** Who has used it: ids of users, or addresses. */
  used_by: number[];
  /** Names and values that others keep here. */
  meta_data: {
    /** Number of the entry. */
    id: number;
    /** Name of the entry. */
    key: string;
    /** What it holds. */
    value: unknown;
  }[];
};

export type Setting = {
  /** Id of the setting. */
  id: string;
  /** Id of the setting's group. */
  group_id: string;
  /** Name of the setting. */
  label: string;
  /** What the setting is about. */
  description: string;
  /** Value of the setting. */
  value: unknown;
  /** Value as long as nobody chose one. */
  default: unknown;
  /** A hint. */
  tip: string;
  /** What an empty field shows. */
  placeholder: string;
  /** Type of the setting. */
  type: "text" | "email" | "number" | "color" | "password" | "textarea" | "select" | "multiselect" | "radio" | "image_width" | "checkbox";
  /** What a choice offers. */
  options: Record<string, unknown>;
};

export type Note = {
  /** Number of the note. */
  id: number;
  /** What it is about. */
  name: string;
  /** What sort of message it is. */
  type: string;
  /** Language of its texts. */
  locale: string;
  /** The message in a line. */
  title: string;
  /** The message. */
  content: string;
  /** What programs may want to know about it. */
  content_data: string;
  /** What became of it. */
  status: string;
  /** Who raised it. */
  source: string;
  /** When it was raised, in the site's time. */
  date_created: string;
  /** When it was raised, in GMT. */
  date_created_gmt: string;
  /** When it wakes, in the site's time. */
  date_reminder: string;
  /** When it wakes, in GMT. */
  date_reminder_gmt: string;
  /** Whether it can be put off. */
  is_snoozable: boolean;
  /** What can be done about it. */
  actions: unknown[];
  /** How it is laid out. */
  layout: string;
  /** A picture beside it. */
  image: string;
  /** Whether it was dismissed. */
  is_deleted: boolean;
  /** Whether somebody has read it. */
  is_read: boolean;
};
