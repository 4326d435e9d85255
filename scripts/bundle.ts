import { chmodSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { BuildOptions, Metafile, Plugin } from 'esbuild'
import { commitOf } from '../packages/apiserver/src/http/source-commit.ts'
import { wholeCommands } from '../packages/cli/src/start/run-bundled.ts'
import { lookThroughIndexes } from './look-through-indexes.ts'
import { bundleParts, parts } from './parts.ts'
import { build } from './thrifty-build.ts'

const root = join(import.meta.dirname, '..')

/** What a bundle leaves to be installed: lmdb brings a native addon. */
export const externalPackages: readonly string[] = ['lmdb']

interface BundleChoices {
  readonly sourcemap?: boolean
}

/**
 * Large packages that few servers use. In the whole program they are scripts of their own, read when they are asked for: V8 keeps the text of
 * a script in memory for as long as one of its functions may run.
 */
const seldomUsed: Readonly<Record<string, string>> = {
  undici: 'undici.cjs',
  '@grpc/grpc-js': 'grpc-js.cjs',
  re2js: 're2js.cjs',
}

/**
 * Bundles the program into a directory: `coracle.js`, which runs one of two scripts beside it (`run-bundled.ts`), `seldomUsed`, and what runs
 * in threads. Returns what is in the whole program and in what it may read.
 */
export async function bundle(out: string, choices: BundleChoices = {}): Promise<Metafile> {
  mkdirSync(out, { recursive: true })
  const main = 'packages/cli/src/main.ts'
  const [program, client, ...seldom] = await Promise.all([
    bundleParts({ root, out, options: scriptOptions(choices, [withSeldomUsedBeside]) }),
    bundleScript(main, join(out, 'client.cjs'), choices, [withoutWholeCommands]),
    ...Object.entries(seldomUsed).map(([name, file]) => bundlePackage(name, join(out, file), choices)),
  ])
  await Promise.all([
    bundleModule({ contents: `export * from './${yamlThread}'` }, join(out, 'yaml-thread.js'), choices),
    bundleModule({ contents: start }, join(out, 'coracle.js'), choices, '#!/usr/bin/env node\n'),
  ])
  for (const file of [...parts, 'client.cjs']) checkAscii(join(out, file))
  const strays = Object.keys(client.inputs).filter((file) => serverSource.test(file))
  if (strays.length > 0) throw new Error(`commands that ask a server have taken in parts of one: ${strays.join(', ')}`)
  chmodSync(join(out, 'coracle.js'), 0o755)
  const all = [...program, ...seldom]
  return {
    inputs: Object.assign({}, ...all.map(({ inputs }) => inputs)),
    outputs: Object.assign({}, ...all.map(({ outputs }) => outputs)),
  }
}

/** `runKeptScript` reads each byte as a character. The bundler writes others as escapes, but not in regular expressions: sources have them there. */
function checkAscii(file: string): void {
  const text = readFileSync(file, 'latin1')
  const at = text.search(/[\u0080-\u00ff]/)
  if (at >= 0)
    throw new Error(`${file} has more than ASCII characters: ${JSON.stringify(text.slice(at - 60, at + 20))}`)
}

/** The program as it is published: what is in a directory, which may have more. */
export interface PublishedBundle {
  readonly directory: string
  readonly files: readonly string[]
  readonly metafile: Metafile
}

/** Bundles the program into an empty directory as it is published, without maps of its sources. */
export async function publishedBundle(directory: string): Promise<PublishedBundle> {
  const metafile = await bundle(directory, { sourcemap: false })
  return { directory, files: readdirSync(directory).sort(), metafile }
}

const serverSource = /^packages[/](apiserver|cluster|controllers|kubelet|proxy|scheduler|simulator)[/]/

const start = `
  import { runBundled } from './packages/cli/src/start/run-bundled.ts'
  await runBundled(import.meta.dirname, process.argv.slice(2))
`

/** It starts itself as a thread: its file is to be its own. */
const yamlThread = 'packages/apiserver/src/http/yaml-thread.ts'

const leftOut = (name: string, filter: RegExp, path: string): Plugin => ({
  name,
  setup({ onResolve }) {
    onResolve({ filter }, ({ kind }) => (kind === 'dynamic-import' ? { path, external: true } : undefined))
  },
})

const withYamlThreadBeside = leftOut('yaml-thread-beside', /[/]yaml-thread\.ts$/, './yaml-thread.js')

const withoutWholeCommands = leftOut(
  'without-whole-commands',
  new RegExp(`[/]commands[/](${wholeCommands.join('|')})\\.ts$`),
  './program.cjs',
)

const withSeldomUsedBeside: Plugin = {
  name: 'seldom-used-beside',
  setup({ onResolve }) {
    const filter = new RegExp(`^(${Object.keys(seldomUsed).join('|')})$`)
    onResolve({ filter }, ({ path }) => ({ path: `./${seldomUsed[path]}`, external: true }))
  },
}

/** All that the client takes of undici. */
const poolOfUndici = `
Object.assign(require('./lib/dispatcher/dispatcher').prototype, require('./lib/api'))
exports.Pool = require('./lib/dispatcher/pool')
`

/** Marks what stands for a module until that is needed. */
const later = '?later'

/**
 * undici runs all of itself when it is loaded, from mocks to WebSockets, and much of Node that it needs for them: a fifth of the CPU of a command
 * that asks a server. This is what the client takes of it; HTTP/2 comes with the first server that wants to speak it.
 */
const withLittleOfUndici: Plugin = {
  name: 'with-little-of-undici',
  setup({ onResolve, onLoad }) {
    onLoad({ filter: /[/]undici[/]index\.js$/ }, () => ({ contents: poolOfUndici }))
    onResolve({ filter: /[/]client-h2(\.js)?$/ }, ({ resolveDir, importer }) => {
      const path = join(resolveDir, 'client-h2.js')
      return { path, suffix: importer === path ? '' : later }
    })
    onLoad({ filter: /[/]client-h2\.js$/ }, ({ path, suffix }) => {
      if (suffix !== later) return undefined
      const contents = `module.exports = (...args) => require(${JSON.stringify(path)})(...args)`
      return { contents, resolveDir: dirname(path) }
    })
  },
}

/** Bundles an installed package into a script that is required. */
async function bundlePackage(name: string, file: string, choices: BundleChoices): Promise<Metafile> {
  const { metafile } = await build({
    ...commonOptions(choices),
    stdin: { contents: `module.exports = require('${name}')`, resolveDir: root },
    outfile: file,
    format: 'cjs',
    plugins: [withLittleOfUndici],
  })
  return metafile
}

/** Bundles a module and all it imports into one script for `runKeptScript`. */
async function bundleScript(
  entry: string,
  file: string,
  choices: BundleChoices,
  plugins: readonly Plugin[],
): Promise<Metafile> {
  const { metafile } = await build({
    ...scriptOptions(choices, plugins),
    entryPoints: [join(root, entry)],
    outfile: file,
  })
  return metafile
}

const scriptOptions = (choices: BundleChoices, plugins: readonly Plugin[]) =>
  ({
    ...commonOptions(choices),
    format: 'cjs',
    // Code that was compiled before has no words for who imports.
    supported: { 'dynamic-import': false },
    charset: 'ascii',
    // Beside them, where they may have other characters.
    legalComments: 'external',
    define: { ...defined, 'import.meta.dirname': '__dirname', 'import.meta.url': 'coracleUrl' },
    plugins: [lookThroughIndexes(root), withYamlThreadBeside, withLittleOfUndici, ...plugins],
    banner: {
      js: "(function (exports, require, module, __filename, __dirname, runPart) { const coracleUrl = require('node:url').pathToFileURL(__filename).href;",
    },
    footer: { js: '})' },
  }) satisfies BuildOptions

async function bundleModule(
  { contents }: { readonly contents: string },
  file: string,
  choices: BundleChoices,
  firstLine = '',
): Promise<void> {
  await build({
    ...commonOptions(choices),
    stdin: { contents, resolveDir: root, loader: 'ts' },
    outfile: file,
    format: 'esm',
    plugins: [lookThroughIndexes(root)],
    banner: {
      js: `${firstLine}import { createRequire as coracleCreateRequire } from 'node:module'; const require = coracleCreateRequire(import.meta.url);`,
    },
  })
}

const defined = { coracleSourceCommit: JSON.stringify(commitOf(root)) }

const commonOptions = ({ sourcemap = true }: BundleChoices) =>
  ({
    bundle: true,
    platform: 'node',
    define: defined,
    target: 'node24',
    // Names stay as they are: stack traces can be read, and functions need not be given theirs back at run time.
    minifyWhitespace: true,
    minifySyntax: true,
    logLevel: 'warning',
    sourcemap: sourcemap && 'linked',
    external: [...externalPackages],
    metafile: true,
    absWorkingDir: root,
  }) satisfies BuildOptions
