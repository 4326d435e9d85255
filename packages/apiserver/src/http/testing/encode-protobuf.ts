import { encloseProtobuf } from '../protobuf-encode.ts'

/** A number as protobuf writes it: seven bits a byte, negative ones in 64 bits. */
export function varint(value: number): Buffer {
  const bytes: number[] = []
  let left = BigInt.asUintN(64, BigInt(value))
  for (; left > 127n; left >>= 7n) bytes.push(Number(left & 127n) | 128)
  return Buffer.from([...bytes, Number(left)])
}

/** A field that holds bytes: text, or a message. */
export function bytesField(number: number, content: Buffer | string): Buffer {
  const body = Buffer.from(content)
  return Buffer.concat([varint(number * 8 + 2), varint(body.length), body])
}

/** A field that holds an integer or a boolean. */
export const integerField = (number: number, value: number): Buffer =>
  Buffer.concat([varint(number * 8), varint(value)])

/** Fields one after another. */
export const messageOf = (...fields: readonly Buffer[]): Buffer => Buffer.concat(fields)

/** A message in upstream's envelope. */
export const enveloped = (apiVersion: string, kind: string, raw: Buffer): Buffer =>
  encloseProtobuf(apiVersion, kind, bytesField(2, raw))
