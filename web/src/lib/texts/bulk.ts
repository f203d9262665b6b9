// Texts of onboarding from a file, which are loaded with its page.

const rowsOf = (rows: string): string => (rows === '1' ? '1 row' : `${rows} rows`);

export const bulkTexts = {
  title: 'Onboard from a file',
  help: 'File format',
  sample: 'Download a sample (CSV)',
  sampleName: 'merchants.csv',
  file: 'File',
  notRows: (name: string) =>
    `${name} is not a CSV or JSON Lines file. Save your table as CSV (UTF-8) and choose that.`,
  explain:
    'JSON Lines or CSV, up to 10,000 rows. Check the file first: nothing is saved until you onboard its rows, and no row is onboarded twice.',
  unknown: (columns: string, isAll: boolean) =>
    `${isAll ? 'None of these columns are known' : 'Unknown columns'}: ${columns}. Compare your file with the sample.`,
  rows: (rows: string) =>
    rows === '0' ? 'No rows.' : rows === '1' ? 'One row:' : `${rows} rows. Preview:`,
  row: 'Row',
  name: 'Trading name',
  whole: 'Whole row',
  progress: 'Progress',
  check: (rows: string) => (rows === '1' ? 'Check this row' : `Check all ${rows} rows`),
  checkSome: (rows: string) => `Check the first ${rows} rows`,
  checking: (done: string, all: string) => `Checking ${done} of ${all}…`,
  checked: (good: string, bad: string) => `${good} valid, ${bad} with errors, nothing saved`,
  fine: (good: string) => `${rowsOf(good)} valid, nothing saved`,
  save: (rows: string) => (rows === '1' ? 'Onboard this row' : `Onboard all ${rows} rows`),
  saveHint: 'Rows with errors are skipped and can be fixed afterwards.',
  failed: 'Rows with errors',
  fixTrial: 'Fix the highlighted cells and check these rows again. Nothing was saved.',
  fix: 'Fix the highlighted cells and send these rows again. The other rows are not affected.',
  cellOf: (field: string, row: number) => `${field} of row ${row}`,
  checkFixed: (rows: string) =>
    rows === '1' ? 'Check the fixed row' : `Check the ${rows} fixed rows`,
  retry: (rows: string) => (rows === '1' ? 'Send the fixed row' : `Send the ${rows} fixed rows`),
  others: (rows: string) =>
    `${rowsOf(rows)} more failed. Fix them in the file and upload it again.`,
  chooseAgain: 'Choose the file again to fix these rows here.',
  field: 'Field',
  error: 'Error',
  cancel: 'Cancel',
  cancelHint: 'Merchants that were already onboarded are kept.',
  totals: (good: string, bad: string, all: string) =>
    `${good} onboarded, ${bad} failed, ${all} in total`,
  upload: 'Upload',
  uploads: 'Uploads',
  noUploads: 'No uploads yet',
  started: 'Started',
  status: 'Status',
  onboarded: 'Onboarded',
  failedHead: 'Failed',
};
