/**
 * What a release would publish, installed into empty projects: the command from its tarball, the libraries from a registry that has their
 * tarballs, with their types. (npm unpacks tarballs that it is given as files several times.)
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { publint } from 'publint'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleOfRun } from '../scripts/bundled-program.ts'
import { overBudget } from '../scripts/release/budgets.ts'
import { buildExecutable } from '../scripts/release/executable.ts'
import { commandPackage } from '../scripts/release/manifests.ts'
import { pack, type Tarball } from '../scripts/release/pack.ts'
import { blocksOf } from './support/documents.ts'
import { LocalRegistry, type Published } from './support/local-registry.ts'
import { Program, run, thriftyCompiler } from './support/program.ts'

const root = join(import.meta.dirname, '..')
const tsc = join(root, 'node_modules', '.bin', 'tsc')
let directory: string
let tarballs: readonly Tarball[]
let registry: LocalRegistry
/** A project with the command, and one with the libraries. */
let command: string
let libraries: string

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'release-'))
  tarballs = await pack(root, join(directory, 'tarballs'), bundleOfRun())
  const isCommand = ({ name }: Tarball) => name === commandPackage
  const published = await Promise.all(
    tarballs
      .filter((tarball) => !isCommand(tarball))
      .map(async ({ file }) => ({ file, manifest: await manifestIn(file) })),
  )
  registry = await LocalRegistry.start(root, published)
  command = await project(
    'command',
    tarballs.filter(isCommand).map(({ file }) => file),
  )
  const versions = published.map(({ manifest: { name, version } }) => `${name}@${version}`)
  libraries = await project('libraries', [...versions, '@types/node'])
}, 600_000)

afterAll(async () => {
  await registry?.[Symbol.asyncDispose]()
  rmSync(directory, { recursive: true, force: true })
})

/** What `package.json` says in a tarball. */
async function manifestIn(file: string): Promise<Published['manifest']> {
  const { code, stdout, stderr } = await run('tar', ['-xOf', file, 'package/package.json'])
  expect(code, stderr).toBe(0)
  return JSON.parse(stdout)
}

/** An empty project with packages installed: tarballs, or those of the registry. No package runs scripts: none may have to. */
async function project(name: string, packages: readonly string[]): Promise<string> {
  const home = join(directory, name)
  mkdirSync(home)
  writeFileSync(join(home, 'package.json'), JSON.stringify({ name, private: true, type: 'module' }))
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', `--registry=${registry.url}`]
  const { code, stderr } = await run('npm', [...args, ...packages], {
    cwd: home,
    env: { npm_config_cache: join(directory, 'cache') },
    timeoutMs: 240_000,
  })
  expect(code, stderr).toBe(0)
  return home
}

const manifestOf = (home: string, name: string) =>
  JSON.parse(readFileSync(join(home, 'node_modules', name, 'package.json'), 'utf8'))

describe('every package', () => {
  it('keeps to its budget of size', () => {
    expect(overBudget(tarballs)).toEqual([])
  })

  it('has the version of the workspace, a licence, and no tests', () => {
    const { version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    for (const { name, files } of tarballs) {
      const manifest = manifestOf(name === commandPackage ? command : libraries, name)
      expect(manifest).toMatchObject({ version, license, type: 'module', engines: { node: '>=24' } })
      expect(manifest).not.toHaveProperty('private')
      expect(manifest).not.toHaveProperty('devDependencies')
      expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'CHANGELOG.md']))
      expect(files.filter((file) => file.includes('.test.'))).toEqual([])
      const ours = Object.entries<string>(manifest.dependencies).filter(([dependency]) =>
        dependency.startsWith('@coracle/'),
      )
      for (const [, range] of ours) expect(range).toBe(version)
    }
  })

  it('says what its code does in declarations alone', () => {
    const deletion = (end: string) =>
      readFileSync(join(libraries, 'node_modules/@coracle/apiserver/dist/src/registry', `deletion.${end}`), 'utf8')
    expect(deletion('d.ts')).toContain('/** What a delete request comes to. */')
    expect(deletion('js')).not.toMatch(/^\s*\/[/*]/m)
  })

  it('is laid out as package managers and bundlers expect', async () => {
    for (const { name, file } of tarballs) {
      const tarball = Uint8Array.from(readFileSync(file)).buffer
      const { messages } = await publint({ pack: { tarball }, level: 'warning' })
      expect(messages, name).toEqual([])
    }
  })
})

describe('the command', () => {
  const file = () => join(command, 'node_modules', commandPackage, 'bin/coracle.js')

  it('brings only what cannot be bundled, and the licences of what is', () => {
    expect(Object.keys(manifestOf(command, commandPackage).dependencies)).toEqual(['lmdb'])
    const licences = readFileSync(join(command, 'node_modules', commandPackage, 'THIRD-PARTY-LICENCES.txt'), 'utf8')
    for (const name of ['commander', 'yaml', 'undici']) expect(licences).toMatch(new RegExp(`^${name} \\d`, 'm'))
  })

  it('starts a cluster and works with it, installed by itself', async () => {
    await using program = await Program.start({ file: file() })
    const { code, stdout, stderr } = await run(join(command, 'node_modules/.bin/coracle'), ['get', 'nodes'], {
      env: { KUBECONFIG: program.kubeconfig },
    })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^node-0 +Ready /m)
    expect(await program.kubectlOk(['get', 'namespaces', '-o', 'name'])).toContain('namespace/kube-system')
  })

  it('says on an old Node.js what it needs', async () => {
    const older = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.1.0' } })"
    writeFileSync(join(directory, 'older.cjs'), older)
    const { code, stderr } = await run(process.execPath, ['--require', join(directory, 'older.cjs'), file(), 'version'])
    expect(code).toBe(1)
    expect(stderr).toMatch(/^error: coracle needs Node\.js 24 or newer, and this is 22\.1\.0; [^\n]+\n$/)
  })
})

describe('the executable', () => {
  it('starts a cluster and works with it where nothing is installed', { timeout: 240_000 }, async () => {
    const executable = await buildExecutable(root, join(directory, 'coracle'), bundleOfRun())
    const env = { XDG_CACHE_HOME: join(directory, 'executable-cache'), PATH: '/nowhere', NODE_PATH: '' }
    await using program = await Program.start({ executable, env })
    const { code, stdout, stderr } = await run(executable, ['get', 'nodes', '--kubeconfig', program.kubeconfig], {
      env,
    })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^node-0 +Ready /m)
  })
})

describe('the libraries', () => {
  const snippets = () =>
    tarballs
      .flatMap(({ name }) => blocksOf(root, `packages/${basename(name)}/README.md`))
      .filter(({ language, marks, text }) => language === 'ts' && marks.length === 0 && !text.includes("from 'vitest'"))
  const fileOf = (where: string) => `${where.replaceAll(/\W+/g, '-')}.ts`

  beforeAll(() => {
    for (const { where, text } of snippets()) writeFileSync(join(libraries, fileOf(where)), text)
  })

  it.each([
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ])(
    'have types for module %s, moduleResolution %s: what the READMEs show type-checks',
    { timeout: 300_000 },
    async (module, moduleResolution) => {
      expect(snippets().length).toBeGreaterThan(8)
      const compilerOptions = {
        target: 'esnext',
        module,
        moduleResolution,
        types: ['node'],
        strict: true,
        exactOptionalPropertyTypes: true,
        noEmit: true,
      }
      writeFileSync(join(libraries, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
      const args = ['--singleThreaded', '-p', libraries]
      const { code, stdout } = await run(tsc, args, { env: thriftyCompiler, timeoutMs: 240_000 })
      expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    },
  )

  it('run: what the READMEs show does', { timeout: 240_000 }, async () => {
    await using program = await Program.start()
    for (const { where, text } of snippets()) {
      if (text.includes('until the process is stopped')) continue
      const env = { KUBECONFIG: program.kubeconfig, NODE_COMPILE_CACHE: join(directory, 'compiled') }
      const options = { cwd: libraries, env }
      const { code, stderr } = await run(process.execPath, [fileOf(where)], options)
      expect({ where, code, stderr: code === 0 ? '' : stderr }).toEqual({ where, code: 0, stderr: '' })
    }
  })

  it('load by each of their subpaths', async () => {
    const subpaths = tarballs
      .filter(({ name }) => name !== commandPackage)
      .flatMap(({ name }) => Object.keys(manifestOf(libraries, name).exports).map((path) => `${name}${path.slice(1)}`))
      // Its own peer is asked for by those who use it.
      .filter((path) => !path.endsWith('/package.json') && path !== '@coracle/api/testing')
    const script = `for (const path of ${JSON.stringify(subpaths)}) if (Object.keys(await import(path)).length === 0) throw path`
    const { code, stderr } = await run(process.execPath, ['--input-type=module', '--eval', script], { cwd: libraries })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })
})
