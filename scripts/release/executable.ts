import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, copyFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { build, type Plugin } from 'esbuild'
import type { PublishedBundle } from '../bundle.ts'

/** Where Node looks in its own file for what it is to run. */
const sentinelFuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

const addon = 'lmdb.node'

/**
 * Makes the program one file for this platform, with Node and this bundle in it, and returns the file. It needs nothing installed.
 * https://nodejs.org/api/single-executable-applications.html
 */
export async function buildExecutable(root: string, file: string, bundle: PublishedBundle): Promise<string> {
  const work = mkdtempSync(join(tmpdir(), 'coracle-executable-'))
  try {
    const files = join(work, 'files')
    for (const each of bundle.files) cpSync(join(bundle.directory, each), join(files, each))
    await installLmdb(root, join(files, 'node_modules/lmdb'))
    writeFileSync(join(files, 'package.json'), '{"type":"module"}')
    writeFileSync(join(files, 'launch.cjs'), "import('./coracle.js')")
    writeFileSync(join(work, 'digest'), digestOf(files))
    await build({
      entryPoints: [join(import.meta.dirname, 'executable-launcher.ts')],
      outfile: join(work, 'launcher.cjs'),
      bundle: true,
      platform: 'node',
      format: 'cjs',
      target: 'node24',
    })
    const assets = Object.fromEntries(filesIn(files).map((name) => [name, join(files, name)]))
    const config = {
      main: join(work, 'launcher.cjs'),
      output: join(work, 'blob'),
      disableExperimentalSEAWarning: true,
      assets: { ...assets, digest: join(work, 'digest') },
    }
    writeFileSync(join(work, 'config.json'), JSON.stringify(config))
    execFileSync(process.execPath, ['--experimental-sea-config', join(work, 'config.json')], { stdio: 'pipe' })
    copyFileSync(process.execPath, file)
    inject(root, file, join(work, 'blob'))
    chmodSync(file, 0o755)
    return file
  } finally {
    rmSync(work, { recursive: true })
  }
}

/** Puts what is to be run into a copy of Node. What the tool says of sections it does not know is not passed on. */
function inject(root: string, file: string, blob: string): void {
  const tool = join(root, 'node_modules/postject/dist/cli.js')
  const segment = process.platform === 'darwin' ? ['--macho-segment-name', 'NODE_SEA'] : []
  const args = [tool, file, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', sentinelFuse, ...segment]
  execFileSync(process.execPath, args, { stdio: 'pipe' })
}

/** Lays out the package that the bundle leaves to be installed: one script, and the addon of this platform. */
async function installLmdb(root: string, directory: string): Promise<void> {
  await build({
    stdin: { contents: "module.exports = require('lmdb')", resolveDir: root },
    outfile: join(directory, 'index.js'),
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node24',
    external: [`./${addon}`],
    plugins: [addonBeside],
  })
  copyFileSync(addonFile(root), join(directory, addon))
  writeFileSync(join(directory, 'package.json'), '{"type":"commonjs"}')
}

/** lmdb looks for its addon among packages for many platforms: here it stands beside it. */
const addonBeside: Plugin = {
  name: 'addon-beside',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node-gyp-build-optional-packages$/ }, ({ path }) => ({ path, namespace: 'addon' }))
    onLoad({ filter: /^/, namespace: 'addon' }, () => ({ contents: `module.exports = () => require('./${addon}')` }))
  },
}

/** The addon of this platform, as lmdb finds it. */
function addonFile(root: string): string {
  const require = createRequire(join(root, 'node_modules/lmdb/package.json'))
  return require('node-gyp-build-optional-packages').path(join(root, 'node_modules/lmdb'))
}

function digestOf(directory: string): string {
  const hash = createHash('sha256')
  for (const name of filesIn(directory)) hash.update(name).update(readFileSync(join(directory, name)))
  return hash.digest('hex').slice(0, 32)
}

/** The paths of all files in a directory, in an order that depends on them alone. */
const filesIn = (directory: string): readonly string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(directory, join(parentPath, name)))
    .sort()
