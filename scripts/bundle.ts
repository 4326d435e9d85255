import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { build, type Metafile, type Plugin } from 'esbuild'
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

/** Bundles the program into a directory: `coracle.js`, and beside it the parts that are loaded when they are needed. */
export async function bundle(
  out: string,
  { sourcemap = true, external = externalPackages, plugins = [] }: BundleChoices = {},
): Promise<Metafile> {
  mkdirSync(out, { recursive: true })
  const result = await build({
    bundle: true,
    platform: 'node',
    define: { coracleSourceCommit: JSON.stringify(commitOf(root)) },
    target: 'node24',
    // Names stay as they are: stack traces can be read, and functions need not be given theirs back at run time.
    minifyWhitespace: true,
    minifySyntax: true,
    logLevel: 'warning',
    stdin: {
      // What is imported after it is compiled once and kept by Node, which halves the time to load it.
      contents: `
        import { enableCompileCache } from 'node:module'
        enableCompileCache()
        const { runMain } = await import('./packages/cli/src/main.ts')
        await runMain()
      `,
      resolveDir: root,
      sourcefile: 'coracle.ts',
      loader: 'ts',
    },
    entryNames: 'coracle',
    outdir: out,
    splitting: true,
    format: 'esm',
    sourcemap: sourcemap && 'linked',
    external: [...external],
    plugins: [namesOfLazyImports, ...plugins],
    metafile: true,
    banner: {
      js: "#!/usr/bin/env node\nimport { createRequire as coracleCreateRequire } from 'node:module'; const require = coracleCreateRequire(import.meta.url);",
    },
  })
  chmodSync(join(out, 'coracle.js'), 0o755)
  return result.metafile
}
