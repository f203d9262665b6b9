// The page of a customer, from wherever their name stands. People with an account are found by its number,
// guests by their e-mail address, and rows of reports by the number that reports give to both.

export const customerPage = (userId: number, email?: string | null): string | undefined =>
  userId ? `/store/customers/${userId}` : email ? `/store/customers/${email}` : undefined;

const OF_REPORTS = 'report-';

export const reportedCustomerPage = (id: string | number): string =>
  `/store/customers/${OF_REPORTS}${id}`;

/** What the reports are asked to find the customer whom an address names. */
export function customerQuery(id: string): Record<string, string | string[]> {
  if (id.startsWith(OF_REPORTS)) return { customers: [id.slice(OF_REPORTS.length)] };
  return id.includes('@') ? { searchby: 'email', search: id } : { users: [id] };
}
