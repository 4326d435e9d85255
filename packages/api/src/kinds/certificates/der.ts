/** A value in DER, the encoding of certificates (ITU-T X.690). */
export interface DerValue {
  readonly tag: number
  readonly content: Buffer
  /** Tag, length and content. */
  readonly encoded: Buffer
}

/** The value that `bytes` begins with. Throws where there is none. */
export function readDer(bytes: Buffer): DerValue {
  const [tag, first] = bytes
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) throw malformed()
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f
  if (lengthBytes > 4 || first === 0x80 || bytes.length < 2 + lengthBytes) throw malformed()
  const start = 2 + lengthBytes
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(2, lengthBytes)
  if (bytes.length < start + length) throw malformed()
  return { tag, content: bytes.subarray(start, start + length), encoded: bytes.subarray(0, start + length) }
}

/** The values that a sequence, a set or a tagged value consists of. Throws where its content is something else. */
export function partsOf({ content }: Pick<DerValue, 'content'>): readonly DerValue[] {
  const parts: DerValue[] = []
  for (let rest = content; rest.length > 0; ) {
    const part = readDer(rest)
    parts.push(part)
    rest = rest.subarray(part.encoded.length)
  }
  return parts
}

/** An object identifier in dotted form. */
export function objectIdentifierOf({ content }: Pick<DerValue, 'content'>): string {
  const arcs: number[] = []
  let arc = 0
  for (const byte of content) {
    arc = arc * 128 + (byte & 0x7f)
    if ((byte & 0x80) !== 0) continue
    arcs.push(arc)
    arc = 0
  }
  const [first = 0, ...rest] = arcs
  const top = Math.min(Math.floor(first / 40), 2)
  return [top, first - top * 40, ...rest].join('.')
}

/** The text of a string of any of the types that names are written in. */
export function textOf({ tag, content }: DerValue): string {
  const bmpString = 0x1e
  if (tag !== bmpString) return content.toString('utf8')
  if (content.length % 2 !== 0) throw malformed()
  return Buffer.from(content).swap16().toString('utf16le')
}

/** The bytes of a bit string, which all of a signature or key is in. */
export function bitStringOf({ content }: DerValue): Buffer {
  if (content[0] !== 0) throw malformed()
  return content.subarray(1)
}

export const malformed = (): Error => new Error('x509: malformed certificate request')
