import { createHash, type Hash } from 'node:crypto'
import { type KubernetesObject, parseExactJson } from '@coracle/api'

/** What the first line of a snapshot says that it is, and in which form. */
export const snapshotFormat = 'coracle.dev/snapshot'
/** The form that is written, and the newest that is read. */
export const snapshotVersion = 1
/** A line with one object, at most. */
export const snapshotLineBytesMax = 64 * 1024 * 1024

/** What is known of a snapshot before its objects. */
export interface SnapshotHeader {
  /** RFC 3339. */
  readonly savedAt: string
  /** The version of the program that wrote it. */
  readonly program: string
  /** Address of the server, or the directory, that the objects were read from. */
  readonly source: string
}

/** What is known of a snapshot when all its objects are written. */
export interface SnapshotEnd {
  /** The revision of the source that the objects were read at. */
  readonly revision: string
  /** What could not be read, and why. */
  readonly gaps: readonly { readonly resource: string; readonly message: string }[]
}

/** The text is no snapshot, none of this version, or not as it was written. */
export class SnapshotError extends Error {
  override readonly name = 'SnapshotError'
}

/**
 * Writes a snapshot: JSON lines, the first about the snapshot, one for each object as the API shows it, and one at the end
 * with the number of objects and a checksum of all before it. No more than a page is held in memory.
 */
export async function* writeSnapshot(
  header: SnapshotHeader,
  pages: AsyncIterable<readonly KubernetesObject[]>,
  end: () => SnapshotEnd,
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  const hashed = (bytes: Buffer): Buffer => {
    hash.update(bytes)
    return bytes
  }
  yield hashed(line({ format: snapshotFormat, version: snapshotVersion, ...header }))
  let objects = 0
  for await (const page of pages) {
    objects += page.length
    if (page.length > 0) yield hashed(Buffer.concat(page.map(line)))
  }
  yield line({ ...end(), objects, sha256: hash.digest('hex') })
}

const line = (value: object): Buffer => Buffer.from(`${JSON.stringify(value)}\n`)

/** A snapshot that is read: what it says of itself, and its objects in pages. */
export interface SnapshotReader {
  readonly header: SnapshotHeader
  /** Ends with a `SnapshotError` where the text is not as it was written: whoever takes objects keeps them only if it ends well. */
  readonly pages: AsyncIterable<readonly KubernetesObject[]>
}

/** Reads a snapshot as its bytes come. Rejects with a `SnapshotError` for what is none. */
export async function readSnapshot(chunks: AsyncIterable<Uint8Array>): Promise<SnapshotReader> {
  const hash = createHash('sha256')
  const lines = linesOf(chunks)
  const first = await lines.next()
  const header = first.done === true ? undefined : headerOf(first.value[0])
  if (first.done === true || header === undefined) throw new SnapshotError('it is no snapshot')
  hash.update(first.value[0] ?? '').update('\n')
  return { header, pages: pagesOf(first.value.slice(1), lines, hash) }
}

function headerOf(bytes: Buffer | undefined): SnapshotHeader | undefined {
  const { format, version, savedAt, program, source } = parse(bytes) ?? {}
  if (format !== snapshotFormat || typeof version !== 'number') return undefined
  if (version > snapshotVersion) {
    throw new SnapshotError(
      `it is in form ${version}, and this program reads up to ${snapshotVersion}: use a newer one`,
    )
  }
  return { savedAt: String(savedAt), program: String(program), source: String(source) }
}

async function* pagesOf(
  rest: readonly Buffer[],
  lines: AsyncGenerator<readonly Buffer[]>,
  hash: Hash,
): AsyncGenerator<readonly KubernetesObject[]> {
  let objects = 0
  // The last line is no object; it is known for the last only when nothing follows.
  let held: Buffer | undefined
  const take = (batch: readonly Buffer[]): readonly KubernetesObject[] => {
    const complete = held === undefined ? batch : [held, ...batch]
    held = complete.at(-1)
    return complete.slice(0, -1).map((bytes) => {
      hash.update(bytes).update('\n')
      objects += 1
      return objectOf(bytes)
    })
  }
  yield take(rest)
  for await (const batch of lines) yield take(batch)
  const end = parse(held)
  if (end?.sha256 === undefined) throw new SnapshotError('it ends too soon: the file was cut short')
  if (end.objects !== objects || end.sha256 !== hash.digest('hex')) {
    throw new SnapshotError('it is not as it was written: its checksum is another')
  }
}

function objectOf(bytes: Buffer): KubernetesObject {
  const object = parse(bytes)
  if (object === undefined) throw new SnapshotError('it is not as it was written: a line is no object')
  return object as unknown as KubernetesObject
}

function parse(bytes: Buffer | undefined): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = parseExactJson(bytes?.toString('utf8') ?? '')
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined
  } catch {
    return undefined
  }
}

/** The lines that are complete with each chunk; a last one without its line feed counts too. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly Buffer[]> {
  let rest: readonly Buffer[] = []
  let restBytes = 0
  for await (const chunk of chunks) {
    const lines: Buffer[] = []
    let start = 0
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
      lines.push(Buffer.concat([...rest, chunk.subarray(start, end)]))
      rest = []
      restBytes = 0
      start = end + 1
    }
    rest = [...rest, Buffer.from(chunk.subarray(start))]
    restBytes += chunk.length - start
    if (restBytes > snapshotLineBytesMax) throw new SnapshotError(`a line is longer than ${snapshotLineBytesMax} bytes`)
    if (lines.length > 0) yield lines
  }
  if (restBytes > 0) yield [Buffer.concat(rest)]
}
