// Written by scripts/types.mjs from the OpenAPI documents of the server; `cargo xtask generate portal`
// writes it again.

export type Merchant = {
  merchantId: string;
  status: string;
  statusReason: string | null;
  actions: string[];
  version: number;
  dba: string;
  zipCode: string;
  ebt: string | null;
  isoAgentReference: string | null;
  isoMerchant: string | null;
  merchantLogoUrl: string | null;
  city: string;
  state: string;
  externalReference: string | null;
  metadata: Record<string, string>;
  contact: { firstName: string; lastName: string | null; email: string; addressLine1: string; addressLine2: string | null; phoneNumber: string; ISDcode: string };
  created: string;
  updated: string;
};

export type Store = {
  storeId: string;
  merchantId: string;
  status: string;
  statusReason: string | null;
  actions: string[];
  effectiveStatus: string;
  version: number;
  mccCode: string;
  dba: string;
  zipCode: string;
  ebt: string | null;
  city: string;
  state: string;
  effectiveEbt: string | null;
  externalReference: string | null;
  metadata: Record<string, string>;
  contact: { firstName: string; lastName: string | null; email: string; addressLine1: string; addressLine2: string | null; phoneNumber: string; ISDcode: string };
  created: string;
  updated: string;
};

export type Tpn = {
  tpn: string;
  merchantId: string;
  storeId: string | null;
  status: string;
  statusReason: string | null;
  actions: string[];
  effectiveStatus: string;
  version: number;
  deviceManufacturer: string;
  deviceModel: string;
  tpnApplicationSign: string;
  tpnRoutingType: string;
  defaultLabel: string | null;
  tpnAssignTemplate: string | null;
  templateVersion: number | null;
  tpnBin: string | null;
  tpnProcessor: { processorName: string; profile: ({ profileId: string; status: string; tpnBin: string | null; identifiers: Record<string, unknown> })[] };
  device: { deviceId: string; serialNumber: string; bound: string; lastSeen: string | null } | null;
  externalReference: string | null;
  metadata: Record<string, string>;
  created: string;
  updated: string;
};

export type IsoAccount = {
  isoId: string;
  name: string;
  status: string;
  statusReason: string | null;
  actions: string[];
  version: number;
  responseStyle: string;
  contact: { contactName: string | null; email: string | null; phoneNumber: string | null; website: string | null };
  limits: { merchants: number | null; stores: number | null; tpns: number | null; onboardings: number | null; requests: number | null };
  created: string;
  updated: string;
};

export type Requirements = {
  merchantId: string;
  status: string;
  requirements: { code: string; message: string; param: string }[];
};

export type Duplicate = {
  merchantId: string;
  dba: string;
  status: string;
  score: number;
  reasons: string[];
};

export type ApiKey = {
  keyId: string;
  name: string;
  scopes: string[];
  allowedIps: string[];
  status: string;
  createdBy: string;
  created: string;
  expires: string | null;
  revoked: string | null;
  lastUsed: string | null;
  lastIp: string | null;
};

export type Template = {
  templateId: string;
  name: string;
  status: string;
  version: number;
  parameters: Record<string, unknown>;
  created: string;
  updated: string;
};

export type Webhook = {
  webhookId: string;
  url: string;
  description: string | null;
  events: string[];
  headers: { name: string; value: string }[];
  status: string;
  disabledReason: string | null;
  version: number;
  failingSince: string | null;
  lastSuccess: string | null;
  oldSecretUntil: string | null;
  created: string;
  updated: string;
};

export type Delivery = {
  deliveryId: string;
  eventId: string;
  eventType: string;
  status: string;
  attempts: number;
  responseStatus: number | null;
  nextAttempt: string | null;
  created: string;
  finished: string | null;
};

export type OutboxEvent = {
  type: string;
  timestamp: string;
  id: string;
  sequence: number;
  environment: string;
  data: unknown;
};

export type AuditEntry = {
  sequence: number;
  time: string;
  actor: string;
  ip: string | null;
  requestId: string | null;
  action: string;
  object: string;
  objectId: string;
  related: string[];
  versionBefore: number | null;
  versionAfter: number | null;
  changes: unknown;
  result: string;
  reason: string | null;
  previousHash: string;
  hash: string;
};

export type AuditVerdict = {
  valid: boolean;
  checked: number;
  next: number | null;
  sequence: number;
  hash: string;
  seal: string;
  time: string;
  faults: { sequence: number; message: string }[];
};

export type Me = {
  user: { id: number; login: string; name: string; email: string; roles: string[]; capabilities: string[]; iso_id: string | null; merchant_id: string | null; store_id: string | null };
  site: { name: string; environment: string; environments: Record<string, unknown>; timezone: string; start_of_week: number; version: string };
};

export type User = {
  id: number;
  username: string;
  name: string;
  first_name: string;
  last_name: string;
  email: string;
  url: string;
  description: string;
  link: string;
  locale: "" | "en_US";
  nickname: string;
  slug: string;
  registered_date: string;
  roles: string[];
  password: string;
  capabilities: Record<string, unknown>;
  extra_capabilities: Record<string, unknown>;
  avatar_urls: { 24: string; 48: string; 96: string };
  meta: Record<string, unknown> | unknown[];
};

export type ConsumerKey = {
  id: number;
  description: string;
  permissions: "read" | "write" | "read_write";
  truncated_key: string;
  created: string;
  last_access: string | null;
  consumer_key: string;
  consumer_secret: string;
};

export type ApplicationPassword = {
  uuid: string;
  app_id: string | "";
  name: string;
  password: string;
  created: string;
  last_used: string | null;
  last_ip: string | null;
};

export type Order = {
  id: number;
  parent_id: number;
  number: string;
  order_key: string;
  created_via: string;
  version: string;
  status: "auto-draft" | "pending" | "processing" | "on-hold" | "completed" | "cancelled" | "refunded" | "failed" | "checkout-draft";
  currency: "AED" | "AFN" | "ALL" | "AMD" | "ANG" | "AOA" | "ARS" | "AUD" | "AWG" | "AZN" | "BAM" | "BBD" | "BDT" | "BGN" | "BHD" | "BIF" | "BMD" | "BND" | "BOB" | "BRL" | "BSD" | "BTC" | "BTN" | "BWP" | "BYR" | "BYN" | "BZD" | "CAD" | "CDF" | "CHF" | "CLP" | "CNY" | "COP" | "CRC" | "CUC" | "CUP" | "CVE" | "CZK" | "DJF" | "DKK" | "DOP" | "DZD" | "EGP" | "ERN" | "ETB" | "EUR" | "FJD" | "FKP" | "GBP" | "GEL" | "GGP" | "GHS" | "GIP" | "GMD" | "GNF" | "GTQ" | "GYD" | "HKD" | "HNL" | "HRK" | "HTG" | "HUF" | "IDR" | "ILS" | "IMP" | "INR" | "IQD" | "IRR" | "IRT" | "ISK" | "JEP" | "JMD" | "JOD" | "JPY" | "KES" | "KGS" | "KHR" | "KMF" | "KPW" | "KRW" | "KWD" | "KYD" | "KZT" | "LAK" | "LBP" | "LKR" | "LRD" | "LSL" | "LYD" | "MAD" | "MDL" | "MGA" | "MKD" | "MMK" | "MNT" | "MOP" | "MRU" | "MUR" | "MVR" | "MWK" | "MXN" | "MYR" | "MZN" | "NAD" | "NGN" | "NIO" | "NOK" | "NPR" | "NZD" | "OMR" | "PAB" | "PEN" | "PGK" | "PHP" | "PKR" | "PLN" | "PRB" | "PYG" | "QAR" | "RON" | "RSD" | "RUB" | "RWF" | "SAR" | "SBD" | "SCR" | "SDG" | "SEK" | "SGD" | "SHP" | "SLL" | "SOS" | "SRD" | "SSP" | "STN" | "SYP" | "SZL" | "THB" | "TJS" | "TMT" | "TND" | "TOP" | "TRY" | "TTD" | "TWD" | "TZS" | "UAH" | "UGX" | "USD" | "UYU" | "UZS" | "VEF" | "VES" | "VND" | "VUV" | "WST" | "XAF" | "XCD" | "XOF" | "XPF" | "YER" | "ZAR" | "ZMW";
  currency_symbol: string;
  date_created: unknown;
  date_created_gmt: unknown;
  date_modified: unknown;
  date_modified_gmt: unknown;
  discount_total: string;
  discount_tax: string;
  shipping_total: string;
  shipping_tax: string;
  cart_tax: string;
  total: string;
  total_tax: string;
  prices_include_tax: boolean;
  customer_id: number;
  customer_ip_address: string;
  customer_user_agent: string;
  customer_note: string;
  billing: { first_name: string; last_name: string; company: string; address_1: string; address_2: string; city: string; state: string; postcode: string; country: string; email: string | null; phone: string };
  shipping: { first_name: string; last_name: string; company: string; address_1: string; address_2: string; city: string; state: string; postcode: string; country: string };
  payment_method: string;
  payment_method_title: string;
  transaction_id: string;
  date_paid: unknown;
  date_paid_gmt: unknown;
  date_completed: unknown;
  date_completed_gmt: unknown;
  cart_hash: string;
  meta_data: { id: number; key: string; value: unknown }[];
  line_items: ({ id: number; name: unknown; parent_name: string | null; product_id: unknown; variation_id: number; quantity: number; tax_class: string; subtotal: string; subtotal_tax: string; total: string; total_tax: string; taxes: { id: number; total: string; subtotal: string }[]; meta_data: { id: number; key: string; value: unknown; display_key: string; display_value: string }[]; sku: string | null; global_unique_id: string | null; price: number; image: { id: number | string; src: string } })[];
  tax_lines: { id: number; rate_code: string; rate_id: number; label: string; compound: boolean; tax_total: string; shipping_tax_total: string; rate_percent: number; meta_data: { id: number; key: string; value: unknown }[] }[];
  shipping_lines: { id: number; method_title: unknown; method_id: unknown; instance_id: string; total: string; total_tax: string; taxes: { id: number; total: string }[]; meta_data: { id: number; key: string; value: unknown }[] }[];
  fee_lines: ({ id: number; name: unknown; tax_class: string; tax_status: "taxable" | "none"; total: string; total_tax: string; taxes: { id: number; total: string; subtotal: string }[]; meta_data: { id: number; key: string; value: unknown }[] })[];
  coupon_lines: { id: number; code: unknown; discount: string; discount_tax: string; discount_type: string; nominal_amount: number; free_shipping: boolean; meta_data: { id: number; key: string; value: unknown }[] }[];
  refunds: { id: number; reason: string; total: string }[];
  payment_url: string;
  is_editable: boolean;
  needs_payment: boolean;
  needs_processing: boolean;
  set_paid: boolean;
  manual_update: boolean;
};

export type OrderNote = {
  id: number;
  author: string;
  date_created: unknown;
  date_created_gmt: unknown;
  note: string;
  customer_note: boolean;
  added_by_user: boolean;
};

export type Product = {
  id: number;
  name: string;
  slug: string;
  permalink: string;
  date_created: unknown;
  date_created_gmt: unknown;
  date_modified: unknown;
  date_modified_gmt: unknown;
  type: "simple" | "grouped" | "external" | "variable" | "variation";
  status: "draft" | "pending" | "private" | "publish" | "future" | "auto-draft" | "trash";
  featured: boolean;
  catalog_visibility: "visible" | "catalog" | "search" | "hidden";
  description: string;
  short_description: string;
  sku: string;
  global_unique_id: string;
  price: string;
  regular_price: string;
  sale_price: string;
  date_on_sale_from: unknown;
  date_on_sale_from_gmt: unknown;
  date_on_sale_to: unknown;
  date_on_sale_to_gmt: unknown;
  price_html: string;
  on_sale: boolean;
  purchasable: boolean;
  total_sales: number | string;
  virtual: boolean;
  downloadable: boolean;
  downloads: { id: string; name: string; file: string }[];
  download_limit: number;
  download_expiry: number;
  external_url: string;
  button_text: string;
  tax_status: "taxable" | "shipping" | "none";
  tax_class: string;
  manage_stock: boolean;
  stock_quantity: number | null;
  stock_status: "instock" | "outofstock" | "onbackorder";
  backorders: "no" | "notify" | "yes";
  backorders_allowed: boolean;
  backordered: boolean;
  low_stock_amount: number | null;
  weight: string;
  dimensions: { length: string; width: string; height: string };
  shipping_required: boolean;
  shipping_taxable: boolean;
  shipping_class: string;
  shipping_class_id: number;
  reviews_allowed: boolean;
  sold_individually: boolean;
  post_password: string;
  upsell_ids: number[];
  cross_sell_ids: number[];
  purchase_note: string;
  average_rating: string;
  rating_count: number;
  related_ids: number[];
  parent_id: number;
  categories: { id: number; name: string; slug: string }[];
  brands: { id: number; name: string; slug: string }[];
  tags: { id: number; name: string; slug: string }[];
  images: { id: number; date_created: unknown; date_created_gmt: unknown; date_modified: unknown; date_modified_gmt: unknown; src: string; name: string; alt: string; srcset: string; sizes: string; thumbnail: string }[];
  has_options: boolean;
  attributes: { id: number; name: string; position: number; visible: boolean; variation: boolean; options: string[] }[];
  default_attributes: { id: number; name: string; option: string }[];
  variations: number[];
  grouped_products: number[];
  menu_order: number;
  meta_data: { id: number; key: string; value: unknown }[];
  permalink_template: string;
  generated_slug: string;
};

export type Variation = {
  id: number;
  type: string;
  date_created: unknown;
  date_modified: unknown;
  description: string;
  permalink: string;
  sku: string;
  global_unique_id: string;
  price: string;
  regular_price: string;
  sale_price: string;
  date_on_sale_from: unknown;
  date_on_sale_from_gmt: unknown;
  date_on_sale_to: unknown;
  date_on_sale_to_gmt: unknown;
  on_sale: boolean;
  status: "draft" | "pending" | "private" | "publish";
  purchasable: boolean;
  virtual: boolean;
  downloadable: boolean;
  downloads: { id: string; name: string; file: string }[];
  download_limit: number;
  download_expiry: number;
  tax_status: "taxable" | "shipping" | "none";
  tax_class: string;
  manage_stock: boolean | string;
  stock_quantity: number | null;
  stock_status: "instock" | "outofstock" | "onbackorder";
  backorders: "no" | "notify" | "yes";
  backorders_allowed: boolean;
  backordered: boolean;
  low_stock_amount: number | null;
  weight: string;
  dimensions: { length: string; width: string; height: string };
  shipping_class: string;
  shipping_class_id: number;
  image: { id: number; date_created: unknown; date_created_gmt: unknown; date_modified: unknown; date_modified_gmt: unknown; src: string; name: string; alt: string; srcset: string; sizes: string; thumbnail: string } | null;
  gallery_image_ids: number[];
  attributes: { id: number; name: string; option: string }[];
  menu_order: number;
  meta_data: { id: number; key: string; value: unknown }[];
  parent_id: number;
};

export type Coupon = {
  id: number;
  code: string;
  amount: number | string;
  status: string;
  date_created: unknown;
  date_created_gmt: unknown;
  date_modified: unknown;
  date_modified_gmt: unknown;
  discount_type: "percent" | "fixed_cart" | "fixed_product";
  description: string;
  date_expires: unknown;
  date_expires_gmt: unknown;
  usage_count: number;
  individual_use: boolean;
  product_ids: number[];
  excluded_product_ids: number[];
  usage_limit: number | null;
  usage_limit_per_user: number | null;
  limit_usage_to_x_items: number | null;
  free_shipping: boolean;
  product_categories: number[];
  excluded_product_categories: number[];
  exclude_sale_items: boolean;
  minimum_amount: number | string;
  maximum_amount: number | string;
  email_restrictions: string[];
  used_by: string[];
  meta_data: { id: number; key: string; value: unknown }[];
};

export type Setting = {
  id: string;
  group_id: string;
  label: string;
  description: string;
  value: unknown;
  default: unknown;
  tip: string;
  placeholder: string;
  type: "text" | "email" | "number" | "color" | "password" | "textarea" | "select" | "multiselect" | "radio" | "image_width" | "checkbox";
  options: Record<string, unknown>;
};

export type Note = {
  id: number;
  name: string;
  type: string;
  locale: string;
  title: string;
  content: string;
  content_data: Record<string, unknown>;
  status: string;
  source: string;
  date_created: string | null;
  date_created_gmt: string | null;
  date_reminder: string | null;
  date_reminder_gmt: string | null;
  is_snoozable: boolean;
  actions: unknown[];
  layout: string;
  image: string;
  is_deleted: boolean;
  is_read: boolean;
};

export type PersonalData = {
  email: string;
  data: { group_id: string; group_label: string; item_id: string; data: { name: string; value: string }[] }[];
};

export type Erasure = {
  account: boolean;
  orders: number;
  reviews: number;
  downloads: number;
  customers: number;
  coupons: number;
  carts: number;
};
