import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** Put in by the bundler: the commit that is bundled. */
declare const coracleSourceCommit: string | undefined

let known: string | undefined

/** The commit this program was made of: of its bundle, or of the checkout it runs in. '' where that cannot be told. */
export function sourceCommit(): string {
  known ??=
    typeof coracleSourceCommit === 'string'
      ? coracleSourceCommit
      : commitOf(join(import.meta.dirname, '..', '..', '..', '..'))
  return known
}

/** The commit that is checked out in a directory; '' where it is no checkout, or has no commit. */
export function commitOf(directory: string): string {
  try {
    const own = gitDirectoryOf(directory)
    const head = read(own, 'HEAD')
    const [, ref] = /^ref: (.+)$/.exec(head) ?? []
    return ref === undefined ? head : commitOfRef(own, ref)
  } catch {
    return ''
  }
}

/** In a further work tree `.git` is a file that says where its own part of the repository is. */
function gitDirectoryOf(directory: string): string {
  const path = join(directory, '.git')
  try {
    const [, elsewhere = ''] = /^gitdir: (.+)$/.exec(readFileSync(path, 'utf8').trim()) ?? []
    return resolve(directory, elsewhere)
  } catch {
    return path
  }
}

function commitOfRef(own: string, ref: string): string {
  const shared = sharedDirectoryOf(own)
  try {
    return read(shared, ref)
  } catch {
    const line = read(shared, 'packed-refs')
      .split('\n')
      .find((each) => each.endsWith(` ${ref}`))
    return line?.split(' ')[0] ?? ''
  }
}

/** Branches belong to all work trees. */
function sharedDirectoryOf(own: string): string {
  try {
    return resolve(own, read(own, 'commondir'))
  } catch {
    return own
  }
}

const read = (directory: string, name: string): string => readFileSync(join(directory, name), 'utf8').trim()
