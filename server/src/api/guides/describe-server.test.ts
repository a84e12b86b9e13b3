import assert from 'node:assert/strict'
import { test } from 'node:test'
import project from '../../../../package.json' with { type: 'json' }
import { describeServer } from './describe-server.ts'

/** The rules of the MCP registry's schema (2025-12-11) for the members of our entry. */
const NAME = /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/
const REMOTE_URL = /^(?:https?:\/\/[^\s]+|\{[a-zA-Z_][a-zA-Z0-9_]*\}[^\s]*)$/
const MEMBERS = ['$schema', 'name', 'title', 'description', 'version', 'websiteUrl', 'remotes']
const INPUT_MEMBERS = ['choices', 'default', 'description', 'format', 'isRequired', 'isSecret', 'placeholder', 'value']

const HOSTS: readonly (readonly [origin: string, name: string, host: string | undefined])[] = [
  ['https://pay.example.com', 'com.example.pay/bursar', 'pay.example.com'],
  ['https://pay.example.com:8443', 'com.example.pay/bursar', 'pay.example.com:8443'],
  ['http://localhost:4100', 'localhost/bursar', undefined],
  ['https://[2001:db8::1]', '-2001-db8--1-/bursar', '[2001:db8::1]'],
]

for (const [baseUrl, name, host] of HOSTS) {
  test(`the registry entry of ${baseUrl} follows the registry's schema`, () => {
    const entry = describeServer({ baseUrl })
    assert.deepEqual(Object.keys(entry), MEMBERS)
    assert.equal(entry.$schema, 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json')
    assert.equal(entry.name, name)
    assert.match(entry.name, NAME)
    assert.ok(entry.name.length >= 3 && entry.name.length <= 200)
    for (const text of [entry.title, entry.description]) assert.ok(text.length >= 1 && text.length <= 100, text)
    assert.match(entry.version, /^\d+\.\d+\.\d+$/)
    assert.equal(entry.version, project.version, 'the version of the release')
    assert.equal(entry.websiteUrl, `${baseUrl}/llms.txt`)
    const [remote, ...others] = entry.remotes
    assert.deepEqual(others, [])
    assert.equal(remote?.type, 'streamable-http')
    assert.match(remote.url, REMOTE_URL)
    const named = [...remote.url.matchAll(/\{(\w+)\}/g)].map(([, variable]) => variable)
    assert.deepEqual(named, Object.keys(remote.variables), 'each variable of the URL is described')
    const { host: input } = remote.variables
    assert.ok(Object.keys(input).every((member) => INPUT_MEMBERS.includes(member)))
    assert.equal(input.isRequired, true)
    assert.equal('default' in input ? input.default : undefined, host)
  })
}
