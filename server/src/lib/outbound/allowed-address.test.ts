import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isAllowedAddress, isLocalhostName } from './allowed-address.ts'

const PUBLIC = words(`
  1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255
  169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0
  223.255.255.255 168.63.129.15 168.63.129.17 2606:4700:4700::1111 2001:4860:4860::8888 2001:200::1
  2a00:1450::1 2003::1 2001:db7::1 3ffd::1 3fff:1000::1 2400:: 2620:4f:7fff::1
`)

const REFUSED: Readonly<Record<string, readonly string[]>> = {
  'this network': ['0.0.0.0', '0.255.255.255'],
  'private (RFC 1918)': [
    '10.0.0.0',
    '10.255.255.255',
    '172.16.0.0',
    '172.31.255.255',
    '192.168.0.0',
    '192.168.255.255',
  ],
  'carrier-grade NAT': ['100.64.0.0', '100.100.100.200', '100.127.255.255'],
  'link-local, cloud metadata': ['169.254.0.0', '169.254.169.254', '169.254.170.2', '169.254.255.255', '168.63.129.16'],
  'protocol assignments': ['192.0.0.0', '192.0.0.170', '192.0.0.192', '192.0.0.255'],
  documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1', '3fff:fff::1'],
  'AS112, AMT, 6to4 relays': ['192.31.196.1', '192.52.193.1', '192.88.99.1', '192.175.48.1', '2620:4f:8000::1'],
  benchmarking: ['198.18.0.0', '198.19.255.255', '2001:2::1'],
  multicast: ['224.0.0.0', '239.255.255.255', 'ff00::', 'ff02::1', 'ff0e::1'],
  'reserved, broadcast': ['240.0.0.0', '255.255.255.254', '255.255.255.255'],
  unspecified: ['::', '0:0:0:0:0:0:0:0'],
  'IPv4-mapped': ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:169.254.169.254', '::ffff:8.8.8.8', '::FFFF:A9FE:A9FE'],
  'IPv4-compatible, translated': ['::127.0.0.1', '::7f00:1', '::8.8.8.8', '::ffff:0:127.0.0.1'],
  NAT64: ['64:ff9b::a9fe:a9fe', '64:ff9b::169.254.169.254', '64:ff9b::808:808', '64:ff9b:1::7f00:1'],
  '6to4': ['2002:7f00:1::', '2002:a9fe:a9fe::1', '2002:808:808::1'],
  Teredo: ['2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  'ORCHID and other assignments': ['2001:10::1', '2001:20::1', '2001:1::1', '2001:1ff:ffff::1'],
  discard: ['100::1', '100:0:0:1::1'],
  'unique local': ['fc00::1', 'fd00:ec2::254', 'fdff:ffff::1'],
  'link-local': ['fe80::1', 'fe80::1%eth0', 'febf::1', '2606:4700::1%eth0'],
  'site-local': ['fec0::1', 'feff::1'],
  'segment routing, 6bone, never assigned': ['5f00::1', '3ffe::1', '4000::1', '8000::1', '1::1', 'e000::1'],
  'not an address': ['', 'localhost', '127.1', '1.2.3', '0x7f.0.0.1', '[::1]', '1.2.3.4:80', '1.2.3.4 '],
}

const LOOPBACK = ['127.0.0.1', '127.0.0.0', '127.255.255.255', '::1', '0:0:0:0:0:0:0:1']

describe('the addresses to which webhooks may be sent', () => {
  for (const allowLoopback of [false, true]) {
    it(`are public addresses, with loopback ${allowLoopback ? 'allowed' : 'refused'}`, () => {
      for (const address of PUBLIC) assert.equal(isAllowedAddress(address, { allowLoopback }), true, address)
      for (const address of LOOPBACK) assert.equal(isAllowedAddress(address, { allowLoopback }), allowLoopback, address)
    })
    for (const [kind, addresses] of Object.entries(REFUSED)) {
      it(`do not include ${kind}, with loopback ${allowLoopback ? 'allowed' : 'refused'}`, () => {
        for (const address of addresses) assert.equal(isAllowedAddress(address, { allowLoopback }), false, address)
      })
    }
  }
})

it('localhost and its subdomains mean this machine, but not names that only look similar', () => {
  for (const name of ['localhost', 'a.localhost', 'a.b.localhost']) assert.equal(isLocalhostName(name), true, name)
  for (const name of ['localhost.example', 'alocalhost', 'localhost.']) assert.equal(isLocalhostName(name), false, name)
})

function words(text: string): string[] {
  return text.trim().split(/\s+/)
}
