/**
 * The whole program in parts, each a script. V8 keeps the text of a script in memory for as long as one of its functions may run: what a
 * server that has started does not need is in scripts of its own, which are read when something of them is asked for.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BuildOptions, Metafile, Plugin } from 'esbuild'
import { Indexes, specifiersOf } from './look-through-indexes.ts'
import { build } from './thrifty-build.ts'

const main = 'packages/cli/src/main.ts'
const server = 'packages/cli/src/commands/up.ts'

/**
 * What a server imports by a call before it is ready, or soon after: `conformance/start.test.ts` fails where something is missing. All else
 * is in another part.
 */
export const soon: readonly string[] = [
  'node_modules/yaml/dist/index.js',
  'packages/apiserver/src/flow-control/required-configuration.ts',
  'packages/apiserver/src/security/rbac/reconcile-policy.ts',
  'packages/apiserver/src/service-account-tokens/token-tracking.ts',
  'packages/cli/src/up/flag-values.ts',
  'packages/cli/src/up/values-in-force.ts',
  'packages/cli/src/verbs/cluster.ts',
  'packages/cluster/src/adapt-frontends.ts',
  'packages/cluster/src/service-routes.ts',
  'packages/environment/src/last-compiler.ts',
  'packages/kubelet/src/runtimes/process/index.ts',
  'packages/proxy/src/index.ts',
  'packages/store/src/memory-store.ts',
]

/** The parts, each of which may ask for those before it. */
export const parts = ['program.cjs', 'later.cjs', 'commands.cjs'] as const
export type Part = (typeof parts)[number]

type Inputs = Metafile['inputs']
type Import = Inputs[string]['imports'][number]

const isCall = ({ kind }: Import): boolean => kind === 'dynamic-import'

/** What is reached from these files, over the imports that `follows` says. */
function reached(inputs: Inputs, files: readonly string[], follows: (each: Import) => boolean): ReadonlySet<string> {
  const found = new Set<string>()
  const left = [...files]
  for (let file = left.pop(); file !== undefined; file = left.pop()) {
    if (found.has(file)) continue
    found.add(file)
    for (const each of inputs[file]?.imports ?? []) if (each.external !== true && follows(each)) left.push(each.path)
  }
  return found
}

/** Which part each file of the program is in. */
export function partsOf(inputs: Inputs): ReadonlyMap<string, Part> {
  const missing = [main, server, ...soon].filter((file) => inputs[file] === undefined)
  if (missing.length > 0) throw new Error(`the program has no ${missing.join(', ')}`)
  const first = reached(inputs, [main, server, ...soon], (each) => !isCall(each))
  const ofServer = reached(inputs, [server, ...soon], () => true)
  return new Map(
    Object.keys(inputs).map((file) => [
      file,
      first.has(file) ? 'program.cjs' : ofServer.has(file) ? 'later.cjs' : 'commands.cjs',
    ]),
  )
}

/** Which files ask for what of other parts. */
class Crossings {
  readonly #root: string
  readonly #inputs: Inputs
  readonly #partOf: ReadonlyMap<string, Part>
  readonly #indexes: Indexes
  /** What others take of a file: values by their names. Of packages that are installed the module is taken, as it is. */
  readonly given = new Map<string, Set<string>>()
  readonly #texts = new Map<string, string>()

  constructor(root: string, inputs: Inputs) {
    this.#root = root
    this.#inputs = inputs
    this.#partOf = partsOf(inputs)
    this.#indexes = new Indexes(root)
    for (const file of Object.keys(inputs)) this.#look(file)
  }

  part(file: string): Part {
    return this.#partOf.get(file) ?? 'commands.cjs'
  }

  /** The text of a file whose imports of other parts ask for them; undefined where it has none. */
  textOf(file: string): string | undefined {
    return this.#texts.get(file)
  }

  get files(): readonly string[] {
    return [...this.#texts.keys()]
  }

  #look(file: string): void {
    const crossing = this.#inputs[file]?.imports.filter(
      (each) => each.external !== true && each.original !== undefined && this.part(each.path) !== this.part(file),
    )
    if (crossing === undefined || crossing.length === 0) return
    let text = readFileSync(join(this.#root, file), 'utf8')
    if (isOwn(file)) text = this.#indexes.lookThrough(join(this.#root, file), text)
    for (const each of crossing) text = this.#asked(text, each)
    this.#texts.set(file, text)
  }

  /** The text with one of its imports led to another part. */
  #asked(text: string, { path, original = '', kind }: Import): string {
    const quoted = `(["'])${original.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&')}\\k<quote>`.replace('(', '(?<quote>')
    const given = this.#givenOf(path)
    const takeAll = (): void => {
      for (const name of this.#namesOf(path)) given.add(name)
    }
    if (kind !== 'import-statement' || !isOwn(path)) {
      if (isOwn(path)) takeAll()
      const asked = JSON.stringify(asModule + path)
      return text.replaceAll(
        new RegExp(`((?:\\bimport|\\brequire)\\s*\\(\\s*|\\bfrom\\s*)${quoted}`, 'g'),
        (_, before: string) => before + asked,
      )
    }
    const statements = new RegExp(`^\\s*(?:import|export)\\s+(?!type\\b)([^;'"]*?)\\s*\\bfrom\\s*${quoted}`, 'gm')
    const singles = new RegExp(`;\\s*import\\s+([^;'"]*?)\\s*\\bfrom\\s*${quoted}`, 'g')
    const ask = (statement: string, what: string, quote: string): string => {
      const [, braces] = /^\{([^}]*)\}$/.exec(what) ?? []
      if (braces === undefined) takeAll()
      else for (const { name } of specifiersOf(braces)) given.add(name)
      return statement.replace(`${quote}${original}${quote}`, JSON.stringify(byNames + path))
    }
    return text.replaceAll(statements, ask).replaceAll(singles, ask)
  }

  /** The values that a source of ours exports. */
  #namesOf(file: string): readonly string[] {
    return [...this.#indexes.exportsOf(join(this.#root, file)).keys()]
  }

  /** Whether a file of another package is a CommonJS module. */
  isCommonJs(file: string): boolean {
    return this.#inputs[file]?.format === 'cjs'
  }

  #givenOf(file: string): Set<string> {
    let given = this.given.get(file)
    if (given === undefined) {
      given = new Set()
      this.given.set(file, given)
    }
    return given
  }
}

const byNames = 'coracle-part-names:'
const asModule = 'coracle-part-module:'

/** Whether a file is a source, and not of a package that is installed. */
const isOwn = (file: string): boolean => file.startsWith('packages/') && !file.includes('node_modules')

/** How a part is bundled. */
export interface PartOptions {
  readonly root: string
  readonly out: string
  readonly options: BuildOptions
}

/**
 * Bundles the program into its parts, scripts as `runKeptScript` runs them. The first exports what `main` does; the others export a function that
 * takes what gives them other parts. Returns which files are in each. Throws where something would be in two of them.
 */
export async function bundleParts({ root, out, options }: PartOptions): Promise<readonly Metafile[]> {
  const { metafile } = await build({
    ...options,
    entryPoints: [join(root, main)],
    outfile: join(out, parts[0]),
    write: false,
    sourcemap: false,
    metafile: true,
  })
  const crossings = new Crossings(root, metafile.inputs)
  return Promise.all(
    parts.map(async (part) => {
      const { metafile: made } = await build({
        ...options,
        stdin: { contents: entryOf(crossings, root, part), resolveDir: root, sourcefile: `${part}.ts`, loader: 'ts' },
        outfile: join(out, part),
        metafile: true,
        plugins: [askingParts(crossings, root, part), ...(options.plugins ?? [])],
        banner: { js: `${options.banner?.js ?? ''}${part === parts[0] ? ofFirst : beforeOthers}` },
        footer: { js: `${part === parts[0] ? '' : afterOthers}${options.footer?.js ?? ''}` },
      })
      // Beside them are what asks other parts, and the entry.
      const files = Object.entries(made.inputs).filter(([file]) => metafile.inputs[file] !== undefined)
      const strays = files.filter(([file]) => crossings.part(file) !== part).map(([file]) => file)
      if (strays.length > 0) throw new Error(`${part} has taken in files of other parts: ${strays.join(', ')}`)
      return { ...made, inputs: Object.fromEntries(files) }
    }),
  )
}

/** Gives a part by its name; the first has been run. */
const ofFirst = `const coracleParts = {}; const coraclePart = (name) => name === ${JSON.stringify(parts[0])} ? module.exports : coracleParts[name] ??= runPart(name)(coraclePart);`

const beforeOthers = 'module.exports = (coraclePart) => { const module = { exports: {} }, { exports } = module;'
const afterOthers = 'return module.exports }'

/** What a part exports: functions that give what other parts take of its files. */
function entryOf(crossings: Crossings, root: string, part: Part): string {
  const imports: string[] = part === parts[0] ? [`export * from ${JSON.stringify(join(root, main))}`] : []
  const members: string[] = []
  let count = 0
  for (const [file, names] of crossings.given) {
    if (crossings.part(file) !== part) continue
    const path = JSON.stringify(join(root, file))
    members.push(`${JSON.stringify(file)}: () => ${gift()}`)

    function gift(): string {
      // What is required runs when it is asked for; the first part has run.
      if (part !== parts[0] || crossings.isCommonJs(file)) return `require(${path})`
      if (!isOwn(file)) {
        const alias = `given${count++}`
        imports.push(`import * as ${alias} from ${path}`)
        return alias
      }
      const aliases = [...names].map((name) => [name, `given${count++}`] as const)
      imports.push(`import { ${aliases.map(([name, alias]) => `${name} as ${alias}`).join(', ')} } from ${path}`)
      return `({ __esModule: true, ${aliases.map(([name, alias]) => `${name}: ${alias}`).join(', ')} })`
    }
  }
  return [...imports, `export const given = {${members.join(',\n')}}`].join('\n')
}

/** Has a part ask others for what is theirs. */
function askingParts(crossings: Crossings, root: string, part: Part): Plugin {
  const asking = new Map(crossings.files.map((file) => [join(root, file), file]))
  return {
    name: 'asking-parts',
    setup({ onLoad, onResolve }) {
      onLoad({ filter: /\.(ts|c?js|mjs)$/, namespace: 'file' }, ({ path }) => {
        const file = asking.get(path)
        const contents = file === undefined ? undefined : crossings.textOf(file)
        return contents === undefined ? undefined : { contents, loader: path.endsWith('.ts') ? 'ts' : 'js' }
      })
      for (const namespace of [byNames, asModule]) {
        onResolve({ filter: new RegExp(`^${namespace}`) }, ({ path }) => ({
          path: path.slice(namespace.length),
          namespace,
        }))
        onLoad({ filter: /^/, namespace }, ({ path: file }) => ({
          contents: namespace === byNames ? askedByNames(file) : `module.exports = ${asked(file)}`,
          resolveDir: root,
        }))
      }
      const asked = (file: string): string => {
        if (crossings.part(file) === part) throw new Error(`${part} asks itself for ${file}`)
        return `coraclePart(${JSON.stringify(crossings.part(file))}).given[${JSON.stringify(file)}]()`
      }
      const askedByNames = (file: string): string => {
        const names = [...(crossings.given.get(file) ?? [])]
        return [`const given = ${asked(file)}`, ...names.map((name) => `export const ${name} = given.${name}`)].join(
          '\n',
        )
      }
    },
  }
}
