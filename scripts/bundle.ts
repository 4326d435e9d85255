import { chmodSync, mkdirSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild'
import { commitOf } from '../packages/apiserver/src/http/source-commit.ts'

const root = join(import.meta.dirname, '..')

/** What a bundle leaves to be installed: lmdb brings a native addon. */
export const externalPackages: readonly string[] = ['lmdb']

/**
 * Packages in CommonJS that are imported when they are needed have their exports by name, as in Node: by itself the bundler gives a
 * part of its own nothing but the default.
 */
const namesOfLazyImports: Plugin = {
  name: 'names-of-lazy-imports',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[@a-z]/ }, ({ kind, path }) => {
      const isOurs = /^(node:|@coracle\/)/.test(path) || externalPackages.includes(path)
      return kind === 'dynamic-import' && !isOurs ? { path, namespace: 'lazy' } : undefined
    })
    onLoad({ filter: /^/, namespace: 'lazy' }, async ({ path }) => {
      const names = Object.keys(await import(path)).filter((name) => name !== 'default' && name !== 'module.exports')
      return { contents: `export { ${names.join(', ')} } from '${path}'`, resolveDir: root }
    })
  },
}

interface BundleChoices {
  readonly sourcemap?: boolean
  /** What is not taken in. */
  readonly external?: readonly string[]
  readonly plugins?: readonly Plugin[]
}

/** The program once more as one script, in which `coracle up` starts: its code is kept whole for the next start. */
const upScript = 'up.cjs'

/**
 * Bundles the program into a directory: `coracle.js`, and beside it the parts that are loaded when they are needed, and the script in which
 * servers start.
 */
export async function bundle(out: string, choices: BundleChoices = {}): Promise<Metafile> {
  mkdirSync(out, { recursive: true })
  const { metafile } = await build({
    ...commonOptions(choices),
    stdin: {
      // What is imported after it is compiled once and kept by Node, which halves the time to load it.
      contents: `
        import { enableCompileCache, getCompileCacheDir } from 'node:module'
        enableCompileCache()
        if (process.argv[2] === 'up') {
          const { runKeptScript } = await import('./packages/cli/src/start/kept-script.ts')
          const { exports, keep } = runKeptScript(import.meta.dirname + '/${upScript}', getCompileCacheDir())
          await exports.runMain({ keepCode: keep })
        } else {
          const { runMain } = await import('./packages/cli/src/main.ts')
          await runMain()
        }
      `,
      resolveDir: root,
      sourcefile: 'coracle.ts',
      loader: 'ts',
    },
    entryNames: 'coracle',
    outdir: out,
    splitting: true,
    format: 'esm',
    plugins: [namesOfLazyImports, ...(choices.plugins ?? [])],
    banner: {
      js: "#!/usr/bin/env node\nimport { createRequire as coracleCreateRequire } from 'node:module'; const require = coracleCreateRequire(import.meta.url);",
    },
  })
  await bundleUpScript(join(out, upScript), partsOf(metafile), choices)
  chmodSync(join(out, 'coracle.js'), 0o755)
  return metafile
}

async function bundleUpScript(file: string, parts: ReadonlyMap<string, string>, choices: BundleChoices): Promise<void> {
  await build({
    ...commonOptions(choices),
    entryPoints: [join(root, 'packages/cli/src/main.ts')],
    outfile: file,
    format: 'cjs',
    // Code that was compiled before has no words for who imports.
    supported: { 'dynamic-import': false },
    charset: 'ascii',
    define: {
      ...commonOptions(choices).define,
      'import.meta.dirname': '__dirname',
      'import.meta.url': 'coracleUrl',
    },
    plugins: [partsBeside(parts), ...(choices.plugins ?? [])],
    banner: {
      js: "(function (exports, require, module, __filename, __dirname) { const coracleUrl = require('node:url').pathToFileURL(__filename).href;",
    },
    footer: { js: '})' },
  })
}

const commonOptions = ({ sourcemap = true, external = externalPackages }: BundleChoices) =>
  ({
    bundle: true,
    platform: 'node',
    define: { coracleSourceCommit: JSON.stringify(commitOf(root)) },
    target: 'node24',
    // Names stay as they are: stack traces can be read, and functions need not be given theirs back at run time.
    minifyWhitespace: true,
    minifySyntax: true,
    logLevel: 'warning',
    sourcemap: sourcemap && 'linked',
    external: [...external],
    metafile: true,
    absWorkingDir: root,
  }) satisfies BuildOptions

/** The files of the parts that something else imports when it needs them, by what they begin with. */
const partsOf = ({ outputs }: Metafile): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(outputs).flatMap(([file, { entryPoint }]) =>
      entryPoint === undefined ? [] : [[entryPoint, `./${basename(file)}`]],
    ),
  )

/**
 * Leaves to the parts what has nothing in common with the rest of a server: packages that few clusters need, what runs in a thread of its own,
 * and what other commands do. Anything else would be there twice.
 */
const partsBeside = (parts: ReadonlyMap<string, string>): Plugin => ({
  name: 'parts-beside',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^/ }, async ({ kind, path, importer, resolveDir, pluginData }) => {
      if (kind !== 'dynamic-import' || pluginData === resolving) return undefined
      const resolved = await resolve(path, { kind, importer, resolveDir, pluginData: resolving })
      const file = relative(root, resolved.path)
      const part = parts.get(file) ?? parts.get(`lazy:${path}`)
      return part !== undefined && isApart(file, relative(root, importer)) ? { path: part, external: true } : undefined
    })
  },
})
const resolving = Symbol('resolving')

const isApart = (file: string, importer: string): boolean =>
  /(^|[/])node_modules[/]/.test(file) ||
  file === 'packages/apiserver/src/http/yaml-thread.ts' ||
  (importer.startsWith('packages/cli/src/verbs/') && file !== 'packages/cli/src/commands/up.ts')
