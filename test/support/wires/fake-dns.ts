import { createSocket } from 'node:dgram'

const TYPES = { A: 1, CNAME: 5, AAAA: 28 } as const
const CODES = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3 } as const
const ANSWER_FLAGS = 0x8180
const TTL_SECONDS = 60

/** The records of a name. With `silent`, the server does not respond. */
export type DnsAnswer =
  | 'silent'
  | 'SERVFAIL'
  | 'NXDOMAIN'
  | { readonly cname?: string; readonly A?: readonly string[]; readonly AAAA?: readonly string[] | 'SERVFAIL' }

export interface FakeDns {
  /** The server's address as `host:port`. */
  readonly server: string
  /** All queries so far, each as `name type`. */
  readonly questions: readonly string[]
  close(): Promise<void>
}

/** Starts a name server on loopback (RFC 1035). It has records only for the names in `names`. */
export async function startFakeDns(names: Readonly<Record<string, DnsAnswer>>): Promise<FakeDns> {
  const questions: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query, { address, port }) => {
    const { name, type, end } = readQuestion(query)
    questions.push(`${name} ${type === TYPES.A ? 'A' : 'AAAA'}`)
    const answer = names[name] ?? 'NXDOMAIN'
    if (answer !== 'silent') socket.send(formatAnswer(query.subarray(0, end), type, answer), port, address)
  })
  await new Promise<void>((resolve) => {
    socket.bind(0, '127.0.0.1', resolve)
  })
  return {
    server: `127.0.0.1:${socket.address().port}`,
    questions,
    close: () =>
      new Promise((resolve) => {
        socket.close(() => resolve())
      }),
  }
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

function formatAnswer(question: Buffer, type: number, answer: Exclude<DnsAnswer, 'silent'>): Buffer {
  const { code, records } = listRecords(type, answer)
  const head = Buffer.from(question)
  head.writeUInt16BE(ANSWER_FLAGS | CODES[code], 2)
  head.writeUInt16BE(records.length, 6)
  head.writeUInt32BE(0, 8)
  return Buffer.concat([head, ...records])
}

function listRecords(type: number, answer: Exclude<DnsAnswer, 'silent'>) {
  if (typeof answer === 'string') return { code: answer, records: [] }
  const addresses = type === TYPES.A ? (answer.A ?? []) : (answer.AAAA ?? [])
  if (typeof addresses === 'string') return { code: addresses, records: [] }
  const asked = Buffer.of(0xc0, 12)
  const owner = answer.cname === undefined ? asked : formatName(answer.cname)
  const alias = answer.cname === undefined ? [] : [formatRecord(asked, TYPES.CNAME, owner)]
  const toBytes = type === TYPES.A ? ipv4Bytes : ipv6Bytes
  const found = addresses.map((address) => formatRecord(owner, type, toBytes(address)))
  return { code: 'NOERROR' as const, records: [...alias, ...found] }
}

function formatRecord(owner: Buffer, type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(10)
  head.writeUInt16BE(type, 0)
  head.writeUInt16BE(1, 2)
  head.writeUInt32BE(TTL_SECONDS, 4)
  head.writeUInt16BE(data.length, 8)
  return Buffer.concat([owner, head, data])
}

function formatName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from(String.fromCharCode(label.length) + label, 'latin1'))
  return Buffer.concat([...labels, Buffer.of(0)])
}

function ipv4Bytes(address: string): Buffer {
  return Buffer.from(address.split('.').map(Number))
}

/** Converts an IPv6 address to bytes. In an address, `::` stands for groups of zeros (RFC 4291, section 2.2). */
function ipv6Bytes(address: string): Buffer {
  const [left = '', right = ''] = address.split('::')
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'))
  const zeros = Array.from({ length: 8 - groups(left).length - groups(right).length }, () => '0')
  const all = address.includes('::') ? [...groups(left), ...zeros, ...groups(right)] : groups(left)
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex')
}
