// The parts of the shop's records that the portal shows.

export interface Address {
  first_name: string;
  last_name: string;
  company: string;
  address_1: string;
  address_2: string;
  city: string;
  state: string;
  postcode: string;
  country: string;
  email?: string;
  phone?: string;
}

export interface Line {
  id: number;
  name: string;
  quantity: number;
  total: string;
  total_tax: string;
  product_id: number;
  sku: string | null;
}

export interface Order {
  id: number;
  number: string;
  status: string;
  currency: string;
  date_created: string;
  date_paid: string | null;
  total: string;
  total_tax: string;
  shipping_total: string;
  discount_total: string;
  payment_method_title: string;
  customer_id: number;
  customer_note: string;
  billing: Address;
  shipping: Address;
  line_items: Line[];
  fee_lines: { id: number; name: string; total: string }[];
  coupon_lines: { id: number; code: string; discount: string }[];
  refunds: { id: number; reason: string; total: string }[];
}

export interface OrderNote {
  id: number;
  author: string;
  date_created: string;
  note: string;
  customer_note: boolean;
}

export interface Product {
  id: number;
  name: string;
  type: string;
  status: string;
  sku: string;
  price: string;
  regular_price: string;
  sale_price: string;
  manage_stock: boolean;
  stock_quantity: number | null;
  stock_status: string;
  categories: { id: number; name: string }[];
  permalink: string;
  description: string;
}

export interface Variation {
  id: number;
  sku: string;
  price: string;
  stock_quantity: number | null;
  stock_status: string;
  attributes: { name: string; option: string }[];
}

export interface Coupon {
  id: number;
  code: string;
  amount: string;
  discount_type: string;
  date_expires: string | null;
  usage_count: number;
  usage_limit: number | null;
}

export interface Note {
  id: number;
  title: string;
  content: string;
  type: string;
  status: string;
  date_created: string;
  is_read: boolean;
  actions: { id: number; label: string; url: string }[];
}
