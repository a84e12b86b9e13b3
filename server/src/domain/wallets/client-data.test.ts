import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isUnambiguousClientData } from './client-data.ts'

const MEMBERS = '"type":"webauthn.get","challenge":"YWJj","origin":"https://signer.example.com"'

describe('client data', () => {
  for (const [about, text] of Object.entries({
    'of Chrome': `{${MEMBERS},"crossOrigin":false,"other_keys_can_be_added_here":"do not compare: https://goo.gl/yabPex"}`,
    'of an authenticator that leaves out crossOrigin': `{${MEMBERS}}`,
    'of an earlier version of WebAuthn': `{${MEMBERS},"tokenBinding":{"status":"supported"}}`,
    'with space, and names and values that look like JSON': ` { ${MEMBERS} , "a\\"":":\\\\" , ":" : ["b:", 1, true] } \n`,
    'with a member that objects inherit': `{${MEMBERS},"__proto__":"a","constructor":"b"}`,
    'with members of the same name in different objects': `{${MEMBERS},"a":{"type":"b"}}`,
  })) {
    test(`${about} is accepted`, () => {
      assert.ok(isUnambiguousClientData(Buffer.from(text)))
    })
  }

  for (const [about, bytes] of Object.entries({
    'of a page in a frame of another origin': `{${MEMBERS},"crossOrigin":true}`,
    'whose crossOrigin is not a boolean': `{${MEMBERS},"crossOrigin":"false"}`,
    'that names the page around it': `{${MEMBERS},"crossOrigin":false,"topOrigin":"https://a.example"}`,
    'with a member twice': `{"challenge":"eHl6",${MEMBERS}}`,
    'with a member twice, one of them escaped': `{"\\u0063hallenge":"eHl6",${MEMBERS}}`,
    'with an inherited member twice': `{${MEMBERS},"__proto__":"a","__proto__":"b"}`,
    'with a member twice in an inner object': `{${MEMBERS},"a":{"b":1,"b":2}}`,
    'with half of a character': `{${MEMBERS},"a":"\\ud800"}`,
    'with half of a character in a name': `{${MEMBERS},"\\ud800":"a"}`,
    'that is nested more deeply': `{${MEMBERS},"a":{"b":{}}}`,
    'with a byte order mark': `\ufeff{${MEMBERS}}`,
    'that is not UTF-8': Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    'that is no object': '"a"',
    'that is no JSON': `{${MEMBERS},}`,
  })) {
    test(`${about} is refused`, () => {
      assert.equal(isUnambiguousClientData(Buffer.from(bytes)), false)
    })
  }
})
