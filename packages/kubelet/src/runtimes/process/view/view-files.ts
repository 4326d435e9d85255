import { lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** What is at a path, links not followed. */
export interface FoundFile {
  readonly kind: 'directory' | 'link' | 'file'
  /** Where a link leads. */
  readonly leadsTo?: string
  readonly mode: number
  readonly uid: number
  readonly gid: number
}

/** The files of this host, as far as views are made of them. */
export interface HostFiles {
  /** Undefined where nothing is, or nobody may look. */
  look(path: string): FoundFile | undefined
  /** The names in a directory. Throws where it cannot be read. */
  names(directory: string): readonly string[]
}

export const hostFiles: HostFiles = {
  look(path) {
    try {
      const stat = lstatSync(path)
      const { mode, uid, gid } = stat
      if (stat.isSymbolicLink()) return { kind: 'link', leadsTo: readlinkSync(path), mode, uid, gid }
      return { kind: stat.isDirectory() ? 'directory' : 'file', mode, uid, gid }
    } catch {
      return undefined
    }
  },
  names: (directory) => readdirSync(directory),
}

/** What a view shows at a path in place of the host's file. */
export interface Shown {
  /** Without links. */
  readonly target: string
  /** The path on the host of what is there, without links. */
  readonly source: string
}

/** A directory or a file that is nowhere but in a view. */
export interface MadeFile {
  readonly path: string
  readonly kind: 'directory' | 'file'
}

/** Links that a path may lead through, as on the host. */
const linksMax = 40

/** The files that a container with a view of its own sees: those of the host, what is mounted over them, and what is made for that. */
export class ViewFiles {
  readonly #shown: readonly Shown[]
  readonly #made: ReadonlyMap<string, FoundFile>
  readonly #host: HostFiles

  constructor(shown: readonly Shown[], made: readonly MadeFile[], host: HostFiles = hostFiles) {
    this.#shown = shown
    this.#made = new Map(made.map(({ path, kind }) => [path, { kind, mode: 0o755, uid: 0, gid: 0 }]))
    this.#host = host
  }

  /** A path with its links followed. What does not exist is where it would be. Throws where links go round in circles. */
  resolve(path: string): string {
    const found: string[] = []
    const left = path.split('/').reverse()
    for (let links = 0; left.length > 0; ) {
      const name = left.pop() ?? ''
      if (name === '' || name === '.') continue
      if (name === '..') {
        found.pop()
        continue
      }
      const leadsTo = this.#lookAt(pathOf([...found, name]))?.leadsTo
      if (leadsTo === undefined) {
        found.push(name)
        continue
      }
      links++
      if (links > linksMax) throw new Error(`${path} goes through too many links`)
      if (leadsTo.startsWith('/')) found.length = 0
      left.push(...leadsTo.split('/').reverse())
    }
    return pathOf(found)
  }

  /** What is at a path, links followed. */
  look(path: string): FoundFile | undefined {
    return this.#lookAt(this.resolve(path))
  }

  /** Where on the host the file at a path is; undefined for what is made for the view. */
  hostPath(path: string): string | undefined {
    const resolved = this.resolve(path)
    const shown = this.shownAt(resolved)
    if (shown !== undefined) return within(shown, resolved)
    return this.#made.has(resolved) ? undefined : resolved
  }

  /** What is mounted at a path without links or above it, the innermost. */
  shownAt(path: string): Shown | undefined {
    return this.#shown.findLast(({ target }) => isAtOrBelow(target, path))
  }

  #lookAt(path: string): FoundFile | undefined {
    const shown = this.shownAt(path)
    if (shown !== undefined) return this.#host.look(within(shown, path))
    return this.#made.get(path) ?? this.#host.look(path)
  }
}

const within = ({ target, source }: Shown, path: string): string => join(source, path.slice(target.length))

export const isAtOrBelow = (directory: string, path: string): boolean =>
  path === directory || path.startsWith(directory === '/' ? '/' : `${directory}/`)

const pathOf = (names: readonly string[]): string => `/${names.join('/')}`
