import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findReach, type AddressReach } from './address-reach.ts'

const ORIGINS: Readonly<Record<AddressReach, readonly string[]>> = {
  loopback: ['http://localhost:4100', 'http://api.localhost', 'http://127.0.0.1:1', 'http://[::1]:4100'],
  private: [
    'https://10.0.0.1',
    'https://192.168.1.4:8443',
    'https://172.16.0.1',
    'https://172.31.255.1',
    'https://169.254.1.1',
    'https://100.64.0.1',
    'https://100.127.0.1',
    'https://[fd00::1]',
    'https://[fe80::1]',
    'https://bursar.local',
    'https://pay.corp.internal',
    'https://nas',
  ],
  public: [
    'https://pay.example.com',
    'https://172.32.0.1',
    'https://100.128.0.1',
    'https://[2001:db8::1]',
    'https://10.example.com',
    'https://localhost.example.com',
  ],
}

for (const [reach, origins] of Object.entries(ORIGINS)) {
  for (const origin of origins) {
    test(`${origin} is ${reach}`, () => {
      assert.equal(findReach(origin), reach)
    })
  }
}
