import { once } from 'node:events'
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { extract, type Pack, pack } from 'tar-stream'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parseFileSpec } from './file-spec.ts'
import { packInto, sendPacked } from './pack.ts'
import { archivePrefix, unpackFrom } from './unpack.ts'

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'coracle-cp-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return directory
}

/** Unpacks what `fill` has put into an archive of `remote/dir`; gives the warnings. */
async function unpack(destination: string, fill: (archive: Pack) => void): Promise<readonly string[]> {
  const archive = pack()
  fill(archive)
  archive.finalize()
  const warnings: string[] = []
  const options = { prefix: 'remote/dir', destination, hint: 'tar', warn: (text: string) => warnings.push(text) }
  await unpackFrom(archive as never, options)
  return warnings
}

/** How an archive tells of a file. */
async function headerOf(path: string): Promise<unknown> {
  const archive = pack()
  void packInto(archive, path, 'x').then(() => archive.finalize())
  const entries = extract()
  archive.pipe(entries as never)
  let found: unknown
  for await (const entry of entries) {
    found = { ...entry.header, ...ownerInPax(entry.header) }
    entry.resume()
  }
  return found
}

const ownerInPax = ({ pax }: { readonly pax?: unknown }) =>
  Object.fromEntries(Object.entries(pax ?? {}).map(([name, text]) => [name, Number(text)]))

describe('what is copied', () => {
  it.each([
    ['a/b', { path: 'a/b' }],
    ['web:/a', { pod: 'web', path: '/a' }],
    ['shop/web:/a:b', { namespace: 'shop', pod: 'web', path: '/a:b' }],
  ])('is said by %s', (text, spec) => {
    expect(parseFileSpec(text)).toEqual(spec)
  })

  it.each([':/a', 'a/b/c:/x', '/web:/x', 'shop/:/x'])('is not said by %s', (text) => {
    expect(() => parseFileSpec(text)).toThrow('filespec must match the canonical format')
  })

  it('comes out as it went in', async () => {
    const [source, destination] = [temporaryDirectory(), join(temporaryDirectory(), 'out')]
    mkdirSync(join(source, 'deep', 'empty'), { recursive: true })
    writeFileSync(join(source, 'run.sh'), 'echo', { mode: 0o755 })
    writeFileSync(join(source, 'deep', 'none'), '')
    const archive = pack()
    const packed = packInto(archive, source, 'remote/dir').then(() => archive.finalize())
    await unpackFrom(archive as never, { prefix: 'remote/dir', destination, hint: '', warn: () => {} })
    await packed
    expect(readFileSync(join(destination, 'run.sh'), 'utf8')).toBe('echo')
    expect(statSync(join(destination, 'run.sh')).mode & 0o777).toBe(0o755)
    expect(statSync(join(destination, 'deep', 'none')).size).toBe(0)
    expect(statSync(join(destination, 'deep', 'empty')).isDirectory()).toBe(true)
  })

  it('is given up, with what is wrong, where something cannot be read', async () => {
    const source = temporaryDirectory()
    writeFileSync(join(source, 'a'), 'x'.repeat(100_000))
    const sent: string[] = []
    const sending = sendPacked(source, 'x', async (archive, signal) => {
      for await (const chunk of archive.iterator({ destroyOnReturn: false })) {
        sent.push(String(chunk))
        // It is gone before the rest of it was read.
        truncateSync(join(source, 'a'))
        break
      }
      archive.resume()
      await once(signal, 'abort')
      throw new Error('the connection was closed')
    })
    await expect(sending).rejects.toThrow('has become smaller while it was copied')
    expect(sent).toHaveLength(1)
  })

  it('does not get out of its destination', async () => {
    const parent = temporaryDirectory()
    const destination = join(parent, 'out')
    const warnings = await unpack(destination, (archive) => {
      archive.entry({ name: 'remote/dir/../../evil' }, 'x')
      archive.entry({ name: 'remote/dir/good' }, 'x')
    })
    expect(warnings).toEqual([`warning: file "${join(parent, '..', 'evil')}" is outside target destination, skipping`])
    expect(existsSync(join(parent, '..', 'evil'))).toBe(false)
    expect(readFileSync(join(destination, 'good'), 'utf8')).toBe('x')
  })

  it('has no links, which could lead out of it', async () => {
    const outside = temporaryDirectory()
    const destination = join(temporaryDirectory(), 'out')
    const warnings = await unpack(destination, (archive) => {
      archive.entry({ name: 'remote/dir/link', type: 'symlink', linkname: outside })
      archive.entry({ name: 'remote/dir/link/evil' }, 'x')
      archive.entry({ name: 'remote/dir/hard', type: 'link', linkname: '/etc/passwd' })
    })
    expect(warnings).toEqual([
      `warning: skipping symlink: "${destination}/link" -> "${outside}" (consider using "tar")`,
      `warning: skipping symlink: "${destination}/hard" -> "/etc/passwd"`,
    ])
    expect(existsSync(join(outside, 'evil'))).toBe(false)
    expect(existsSync(join(destination, 'hard'))).toBe(false)
  })

  it('sends no commands to the terminal by its names', async () => {
    const destination = join(temporaryDirectory(), 'out')
    const warnings = await unpack(destination, (archive) => {
      archive.entry({ name: 'remote/dir/\u001b[2Ja', type: 'symlink', linkname: '\u001b]0;b' })
      archive.entry({ name: 'remote/dir/../\u001b[2Jc' }, 'x')
    })
    expect(warnings).toHaveLength(2)
    expect(warnings.join('')).toContain(String.raw`\x1b[2J`)
    expect(warnings.join('')).not.toContain('\u001b')
  })

  it('says whose each file is', async () => {
    const source = temporaryDirectory()
    const file = join(source, 'file')
    writeFileSync(file, 'x')
    const { uid, gid } = statSync(file)
    expect(await headerOf(file)).toMatchObject({ uid, gid })
    if (process.getuid?.() !== 0) return
    // As identity providers number users: an entry's own header has no room for that.
    chownSync(file, 1_000_660_000, 4711)
    expect(await headerOf(file)).toMatchObject({ uid: 1_000_660_000, gid: 4711 })
  })

  it('keeps links on its way into a container', async () => {
    const source = temporaryDirectory()
    symlinkSync('/somewhere', join(source, 'link'))
    const archive = pack()
    const entries: (string | undefined | null)[][] = []
    const original = archive.entry.bind(archive)
    archive.entry = ((header: { name: string; linkname?: string }, ...rest: never[]) => {
      entries.push([header.name, header.linkname])
      return original(header, ...rest)
    }) as never
    await packInto(archive, source, 'x')
    expect(entries).toEqual([['x/link', '/somewhere']])
  })

  it('is refused where the archive holds something else', async () => {
    const unpacking = unpack(temporaryDirectory(), (archive) => archive.entry({ name: 'other/file' }, 'x'))
    await expect(unpacking).rejects.toThrow('tar contents corrupted')
  })

  it.each([
    ['/a/b/', 'a/b'],
    ['../../a', 'a'],
    ['a/../b', 'b'],
    ['.', ''],
  ])('of %s has names that begin with "%s"', (path, prefix) => {
    expect(archivePrefix(path)).toBe(prefix)
  })
})
