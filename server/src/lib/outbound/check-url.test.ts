import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkWebhookUrl, type UrlFault } from './check-url.ts'

const STRICT = { allowLoopback: false, ownOrigins: ['https://api.bursar.example', 'https://app.bursar.example'] }
const SANDBOX = { allowLoopback: true, ownOrigins: ['http://localhost:4100', 'http://localhost:4101'] }

const ALLOWED: Readonly<Record<string, string>> = {
  'https://example.com': 'https://example.com/',
  'https://example.com/hook?a=1&b=%20': 'https://example.com/hook?a=1&b=%20',
  'https://example.com:443/hook': 'https://example.com/hook',
  'HTTPS://EXAMPLE.com/Hook': 'https://example.com/Hook',
  'https://münchen.example/é': 'https://xn--mnchen-3ya.example/%C3%A9',
  'https://8.8.8.8/hook': 'https://8.8.8.8/hook',
  'https://[2606:4700:4700::1111]/hook': 'https://[2606:4700:4700::1111]/hook',
  'https://localhost.example/': 'https://localhost.example/',
  'https://127.0.0.1.example/': 'https://127.0.0.1.example/',
}

const LOOPBACK_SPELLINGS = words(`
  127.0.0.1 127.1 127.0.1 0x7f.1 0x7f000001 0X7F.0.0.1 2130706433 0177.1 017700000001 127.0.0.1.
  127.255.255.254 １２７.０.０.１ 127。0。0。1 ①②⑦.0.0.1 %31%32%37.0.0.1 [::1] [0:0:0:0:0:0:0:1] [0::0:1] localhost
  LOCALHOST ⓛocalhost %6cocalhost a.localhost
`)

/** Spellings of addresses that are neither public nor loopback. Every policy rejects them. */
const PRIVATE_SPELLINGS = words(`
  10.0.0.1 0xa.1 167772161 012.0.0.1 192.168.1.1 192.168.257 3232235777 172.16.0.1 0xac.0x10.1 169.254.169.254
  2852039166 0xa9fea9fe 0251.0376.0251.0376 169.254.43518 １６９.２５４.１６９.２５４ 100.64.0.1 0.0.0.0 0 0x0
  255.255.255.255 224.0.0.1 168.63.129.16 192.0.0.192 198.18.0.1 240.0.0.1 192.0.2.1 [::] [::ffff:127.0.0.1]
  [::ffff:7f00:1] [0:0:0:0:0:ffff:127.0.0.1] [::ffff:169.254.169.254] [::127.0.0.1] [::ffff:0:127.0.0.1]
  [64:ff9b::a9fe:a9fe] [64:ff9b:1::7f00:1] [2002:7f00:1::] [2001:0:7f00:1::] [fd00:ec2::254] [fc00::1]
  [fe80::1] [fec0::1] [ff02::1] [100::1] [2001:db8::1] [5f00::1] intranet metadata.google.internal nas.local
  router.home.arpa kubernetes.default.svc.cluster.local abc.onion example.com. localhost. a.localhost.
`)

const FAULTS: readonly (readonly [string, UrlFault])[] = [
  ['', 'not_a_url'],
  ['example.com/hook', 'not_a_url'],
  ['https://', 'not_a_url'],
  ['https://exa mple.com', 'not_a_url'],
  ['https://example.com/a b', 'not_a_url'],
  [' https://example.com', 'not_a_url'],
  ['https://example.com/\r\nX-Injected: 1', 'not_a_url'],
  ['https://exam\tple.com', 'not_a_url'],
  ['https://example.com/\0', 'not_a_url'],
  ['https://[fe80::1%25eth0]/', 'not_a_url'],
  ['https://256.256.256.256/', 'not_a_url'],
  ['https://0x100000000/', 'not_a_url'],
  ['https://example.com:65536/', 'not_a_url'],
  [`https://example.com/${'a'.repeat(2_048)}`, 'too_long'],
  [`https://example.com/${'é'.repeat(400)}`, 'too_long'],
  [`https://${`${'a'.repeat(60)}.`.repeat(5)}example/`, 'host_not_public'],
  ['http://example.com/', 'not_https'],
  ['http://8.8.8.8/', 'not_https'],
  ['ftp://example.com/', 'not_https'],
  ['file:///etc/passwd', 'not_https'],
  ['javascript:alert(1)', 'not_https'],
  ['data:text/plain,a', 'not_https'],
  ['ws://example.com/', 'not_https'],
  ['https://user@example.com/', 'has_credentials'],
  ['https://user:pass@example.com/', 'has_credentials'],
  ['https://:pass@example.com/', 'has_credentials'],
  ['https://example.com@127.0.0.1/', 'has_credentials'],
  ['https://example.com/#top', 'has_fragment'],
  ['https://example.com/#', 'has_fragment'],
  ['https://example.com:80/', 'port_not_allowed'],
  ['https://example.com:8443/', 'port_not_allowed'],
  ['https://example.com:22/', 'port_not_allowed'],
  ['https://example.com:0/', 'port_not_allowed'],
]

describe('the URL of a webhook', () => {
  it('is https, to a public host, on the default port', () => {
    for (const policy of [STRICT, SANDBOX]) {
      for (const [text, href] of Object.entries(ALLOWED)) assert.equal(String(checkWebhookUrl(text, policy)), href)
    }
  })

  it('is rejected with the reason', () => {
    for (const policy of [STRICT, SANDBOX]) {
      for (const [text, fault] of FAULTS) assert.equal(checkWebhookUrl(text, policy), fault, text)
    }
  })

  it('must not contain a private address in any spelling', () => {
    for (const policy of [STRICT, SANDBOX]) {
      for (const host of PRIVATE_SPELLINGS) {
        assert.equal(checkWebhookUrl(`https://${host}/hook`, policy), 'host_not_public', host)
        assert.equal(checkWebhookUrl(`http://${host}/hook`, policy), 'not_https', host)
      }
    }
  })

  it('must not contain a loopback address in any spelling', () => {
    for (const host of LOOPBACK_SPELLINGS) {
      assert.equal(checkWebhookUrl(`https://${host}/hook`, STRICT), 'host_not_public', host)
      assert.equal(checkWebhookUrl(`http://${host}:8080/hook`, STRICT), 'not_https', host)
    }
  })

  it('may be loopback in the sandbox, over http and on any port', () => {
    for (const host of LOOPBACK_SPELLINGS) {
      for (const scheme of ['http', 'https']) {
        assert.ok(checkWebhookUrl(`${scheme}://${host}/hook`, SANDBOX) instanceof URL, host)
        assert.ok(checkWebhookUrl(`${scheme}://${host}:9999/hook`, SANDBOX) instanceof URL, host)
      }
    }
    assert.equal(checkWebhookUrl('http://127.0.0.1:0/', SANDBOX), 'port_not_allowed')
    assert.equal(checkWebhookUrl('http://user@127.0.0.1/', SANDBOX), 'has_credentials')
    assert.equal(checkWebhookUrl('http://127.0.0.1/#a', SANDBOX), 'has_fragment')
  })

  it('must not be one of our own origins', () => {
    for (const text of ['https://api.bursar.example', 'https://API.bursar.example:443/v1/payments?a=1']) {
      assert.equal(checkWebhookUrl(text, STRICT), 'own_origin', text)
    }
    assert.ok(checkWebhookUrl('https://hooks.bursar.example/', STRICT) instanceof URL)
    for (const host of LOOPBACK_SPELLINGS) {
      assert.equal(checkWebhookUrl(`http://${host}:4100/v1/payments`, SANDBOX), 'own_origin', host)
      assert.equal(checkWebhookUrl(`https://${host}:4101/`, SANDBOX), 'own_origin', host)
    }
    assert.ok(checkWebhookUrl('http://localhost:4102/', SANDBOX) instanceof URL)
  })
})

function words(text: string): string[] {
  return text.trim().split(/\s+/)
}
