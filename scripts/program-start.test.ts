import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Metafile } from 'esbuild'
import { beforeAll, describe, expect, it } from 'vitest'
import { build } from './thrifty-build.ts'

const root = join(import.meta.dirname, '..')

/** What of the sources is loaded when `entry` is, before anything is imported by a call. */
interface Loaded {
  readonly files: readonly string[]
  readonly bytes: number
  readonly packages: readonly string[]
  readonly builtins: readonly string[]
}

/** Bundles in parts, so that what is loaded at once stands apart from what is imported later; writes nothing. */
async function loadedBy(entry: string): Promise<Loaded> {
  const { metafile } = await build({
    entryPoints: { entry: join(root, entry) },
    absWorkingDir: root,
    outdir: 'dist',
    write: false,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    minifyWhitespace: true,
    minifySyntax: true,
    external: ['lmdb'],
    metafile: true,
    logLevel: 'error',
  })
  const outputs = new Set<string>()
  const visit = (path: string): void => {
    if (outputs.has(path)) return
    outputs.add(path)
    for (const { path: next, kind, external } of outputOf(metafile, path).imports) {
      if (kind !== 'dynamic-import' && external !== true) visit(next)
    }
  }
  visit('dist/entry.js')
  const parts = [...outputs].map((path) => outputOf(metafile, path))
  const files = parts.flatMap(({ inputs }) => Object.keys(inputs)).map((path) => relative(root, join(root, path)))
  const externals = parts.flatMap(({ imports }) =>
    imports.filter(({ external, kind }) => external === true && kind !== 'dynamic-import').map(({ path }) => path),
  )
  return {
    files,
    bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
    packages: unique(files.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [])),
    builtins: unique(externals.map((path) => path.replace(/^node:/, ''))),
  }
}

function outputOf({ outputs }: Metafile, path: string): Metafile['outputs'][string] {
  const output = outputs[path]
  if (output === undefined) throw new Error(`the bundle has no ${path}`)
  return output
}

const unique = (names: readonly string[]): readonly string[] => [...new Set(names)].sort()

// What is loaded for everybody is paid for by everybody, at each start: 1 ms of CPU for each 60 kB, and for some modules of Node 5.
describe('what `coracle up` loads before it does anything', () => {
  let up: Loaded
  beforeAll(async () => {
    up = await loadedBy('packages/cli/src/commands/up.ts')
  })

  it('is no library but the one its caches are made of, and the store', () => {
    expect(up.packages).toEqual(['sorted-btree'])
  })

  it('is no module of Node that only some clusters need', () => {
    const rare = ['http2', 'inspector', 'readline', 'repl', 'sqlite', 'vm', 'worker_threads']
    expect(up.builtins.filter((name) => rare.includes(name))).toEqual([])
  })

  // To import it is to read all its exports, and one of them loads an HTTP client: 40 ms.
  it('is not the module `http` of Node, whose classes are taken without importing it', () => {
    expect(up.builtins).not.toContain('http')
  })

  it('is nothing of YAML, CEL, OpenAPI, custom kinds, the security of pods, limit ranges, connections to pods, names of services or what reads the causal record', () => {
    const lazy = [
      'packages/apiserver/src/admission/limits.ts',
      'packages/apiserver/src/causes/causal-record.ts',
      'packages/apiserver/src/http/yaml-text.ts',
      'packages/apiserver/src/subresources/connect.ts',
      'packages/apiserver/src/subresources/proxy.ts',
      'packages/api/src/openapi/v',
      'packages/api/src/pod-security/',
      'packages/api/src/cel/evaluate.ts',
      'packages/api/src/custom/',
      'packages/dns/',
      'packages/kubelet/src/hosts/',
    ]
    expect(up.files.filter((path) => lazy.some((each) => path.startsWith(each)))).toEqual([])
  })

  it('is no check of kinds that many clusters do without', () => {
    const checks = [
      'admissionregistration/policy-validation.ts',
      'apps/stateful-set/stateful-set-validation.ts',
      'autoscaling/horizontal-pod-autoscaler/validation.ts',
      'batch/job/job-validation.ts',
      'certificates/certificate-signing-request-validation.ts',
      'core/limit-range/validation.ts',
      'core/persistent-volume-claim/validation.ts',
      'core/persistent-volume/validation.ts',
      'core/resource-quota/validation.ts',
      'networking/ingress-validation.ts',
      'resource/resource-claim-validation.ts',
    ].map((file) => `packages/api/src/kinds/${file}`)
    expect(checks.filter((file) => !existsSync(join(root, file)))).toEqual([])
    expect(up.files.filter((file) => checks.includes(file))).toEqual([])
  })

  it('has a limit', () => {
    const bytesMax = 2_380_000
    expect(up.bytes).toBeLessThan(bytesMax)
  })
})

describe('what a command loads before it is known which', () => {
  it('is the parser and nothing of the cluster', async () => {
    const main = await loadedBy('packages/cli/src/main.ts')
    expect(main.packages).toEqual(['commander'])
    // Of these commander is 54 kB. The flags of commands are loaded group by group, up to the group of the one that is run.
    expect(main.bytes).toBeLessThan(112_000)
  })
})
