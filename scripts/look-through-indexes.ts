import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Plugin } from 'esbuild'

/** Where something that is exported is made: a file, and its name there. */
interface Origin {
  readonly file: string
  readonly name: string
}

/**
 * Has what a source takes of an index come from the file that makes it. The bundler divides the program by what each part can reach, and
 * through an index that is everything behind it: a command that takes one function of `@coracle/api` would load all kinds.
 * Only for sources that do nothing but export, and whose statements stand as the formatter writes them; what it cannot tell stays as it is.
 */
export function lookThroughIndexes(root: string): Plugin {
  const indexes = new Indexes(root)
  return {
    name: 'look-through-indexes',
    setup({ onLoad }) {
      onLoad({ filter: /[/]packages[/][^/]+[/]src[/].*\.ts$/, namespace: 'file' }, ({ path }) => ({
        contents: indexes.lookThrough(path, readFileSync(path, 'utf8')),
        loader: 'ts',
      }))
    },
  }
}

/** The values that sources export. */
export class Indexes {
  readonly #root: string
  readonly #exports = new Map<string, ReadonlyMap<string, Origin>>()
  readonly #entries = new Map<string, string | undefined>()

  constructor(root: string) {
    this.#root = root
  }

  /** A source with its imports from others led past indexes. Each statement keeps its lines. */
  lookThrough(file: string, source: string): string {
    return source.replaceAll(/^import \{([^}]*)\} from '([^']+)'$/gm, (statement, names: string, from: string) => {
      const target = this.#resolve(file, from)
      if (target === undefined) return statement
      const imports = specifiersOf(names).map(({ name, alias }) => {
        const origin = this.exportsOf(target).get(name)
        const [path, original] = origin === undefined ? [from, name] : [origin.file, origin.name]
        return `import { ${original === alias ? alias : `${original} as ${alias}`} } from ${JSON.stringify(path)}`
      })
      return imports.join('; ') + '\n'.repeat(statement.split('\n').length - 1)
    })
  }

  /** The values that a source exports, by their names. */
  exportsOf(file: string): ReadonlyMap<string, Origin> {
    const known = this.#exports.get(file)
    if (known !== undefined) return known
    const found = new Map<string, Origin>()
    this.#exports.set(file, found)
    const source = readFileSync(file, 'utf8')
    for (const [, name = ''] of source.matchAll(
      /^export (?:async )?(?:const|let|function\*?|(?:abstract )?class) (\w+)/gm,
    )) {
      found.set(name, { file, name })
    }
    for (const [, names = '', from] of source.matchAll(/^export \{([^}]*)\}(?: from '([^']+)')?$/gm)) {
      const target = from === undefined ? undefined : this.#resolve(file, from)
      for (const { name, alias } of specifiersOf(names)) {
        const origin = target === undefined ? undefined : this.exportsOf(target).get(name)
        found.set(alias, origin ?? { file, name: alias })
      }
    }
    for (const [, from = ''] of source.matchAll(/^export \* from '([^']+)'$/gm)) {
      const target = this.#resolve(file, from)
      if (target === undefined) continue
      for (const [name, origin] of this.exportsOf(target)) if (!found.has(name)) found.set(name, origin)
    }
    return found
  }

  /** The file of a source that another imports; undefined where that is none of ours. */
  #resolve(importer: string, from: string): string | undefined {
    if (from.startsWith('.')) return from.endsWith('.ts') ? resolve(dirname(importer), from) : undefined
    const [, folder, subpath] = /^@coracle[/]([^/]+)(.*)$/.exec(from) ?? []
    if (folder === undefined) return undefined
    const key = `${folder}${subpath}`
    if (!this.#entries.has(key)) this.#entries.set(key, this.#entryOf(folder, `.${subpath}`))
    return this.#entries.get(key)
  }

  #entryOf(folder: string, subpath: string): string | undefined {
    const directory = join(this.#root, 'packages', folder)
    const { exports } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as {
      readonly exports?: Readonly<Record<string, string>>
    }
    const file = exports?.[subpath]
    return file === undefined ? undefined : join(directory, file)
  }
}

export interface Specifier {
  readonly name: string
  /** The name it is given. */
  readonly alias: string
}

/** The values among what stands in the braces of an import or export. */
export const specifiersOf = (names: string): readonly Specifier[] =>
  names
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '' && !each.startsWith('type '))
    .map((each) => {
      const [name = '', alias = name] = each.split(' as ')
      return { name, alias }
    })
