// Onboards a merchant with a store and a terminal, and reads it back.
// BOARDWALK_SERVER and BOARDWALK_API_KEY say where, and with which key.
import process from 'node:process';
import { Boardwalk, InvalidRequestError, type OnboardMerchant } from 'boardwalk-sdk';

const name = process.argv[2] ?? 'Harbor Coffee';
const merchantData = {
  dba: name,
  firstName: 'Maria',
  email: 'maria@harbor.example',
  addressLine1: '12 Pier Road',
  zipCode: '10001',
  phoneNumber: '2125550142',
  ISDcode: '+1',
};
const application: OnboardMerchant = {
  merchantData,
  storeData: { ...merchantData, mccCode: '5812' },
  tpnData: {
    deviceManufacturer: 'Kozen',
    deviceModel: 'P3',
    tpnApplicationSign: 'CRDT',
    tpnRoutingType: 'SIMPLE',
    tpnProcessor: {
      processorName: 'CKNX',
      profile: [{ profileId: '01', apiKey: 'demo-processor-key' }],
    },
  },
};

const boardwalk = new Boardwalk({
  server: process.env['BOARDWALK_SERVER'] ?? '',
  apiKey: process.env['BOARDWALK_API_KEY'] ?? '',
});

try {
  // A key of your own, such as the number of the application, makes it safe to run this again.
  const idempotencyKey = name.toLowerCase().replaceAll(' ', '-');
  const { data } = await boardwalk.onboardMerchant(application, { idempotencyKey });
  const merchant = await boardwalk.merchants.get(data.merchantId ?? '');
  console.log(`${merchant.dba} is ${merchant.status}: ${merchant.merchantId}`);
  for await (const tpn of boardwalk.tpns.list({ merchantId: merchant.merchantId })) {
    console.log(`TPN ${tpn.tpn} on ${tpn.deviceModel} is ${tpn.status}`);
  }
} catch (error) {
  if (!(error instanceof InvalidRequestError)) throw error;
  for (const { param, message, code } of error.errors)
    console.log(`${param}: ${message} (${code})`);
  process.exitCode = 1;
}
