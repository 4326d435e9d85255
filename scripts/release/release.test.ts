import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { manPages } from '../reference/man-pages.ts'
import { auditResult } from './audit.ts'
import { overBudget } from './budgets.ts'
import { commandManifest, libraryManifest } from './manifests.ts'
import { sbom } from './sbom.ts'

const root = join(import.meta.dirname, '../..')
const readJson = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'))
const { version } = readJson('package.json')
const common = { version: '1.2.3', license: 'Apache-2.0', keywords: ['kubernetes'] }
const source = { name: '@coracle/x', version: '1.2.3', description: 'X.', license: 'Apache-2.0' }

describe('versions', () => {
  it.each(readdirSync(join(root, 'packages')))('are those of the workspace: %s', (folder) => {
    const manifest = readJson(`packages/${folder}/package.json`)
    expect(manifest.version).toBe(version)
    for (const [name, range] of Object.entries(manifest.dependencies ?? {})) {
      if (name.startsWith('@coracle/')) expect(`${name}@${range}`).toBe(`${name}@${version}`)
    }
  })

  it('have their section in the changelog', () => {
    expect(readFileSync(join(root, 'CHANGELOG.md'), 'utf8')).toContain(`\n## [${version}]`)
  })
})

describe('manifests', () => {
  it('of a library name compiled files with their types, for each subpath and program', () => {
    const exports = { '.': './src/index.ts', './testing': './src/testing/index.ts' }
    expect(libraryManifest({ ...source, exports, bin: { x: './bin/x.ts' } }, common, 'packages/x')).toMatchObject({
      exports: {
        '.': { types: './dist/src/index.d.ts', default: './dist/src/index.js' },
        './testing': { types: './dist/src/testing/index.d.ts', default: './dist/src/testing/index.js' },
      },
      bin: { x: './dist/bin/x.js' },
      engines: { node: '>=24' },
    })
  })

  it('of a library name what only some of its users need as optional peers', () => {
    const publishConfig = { peerDependencies: { 'fast-check': '>=4' } }
    expect(libraryManifest({ ...source, publishConfig }, common, 'packages/x')).toMatchObject({
      peerDependencies: { '@types/node': '>=24', 'fast-check': '>=4' },
      peerDependenciesMeta: { '@types/node': { optional: true }, 'fast-check': { optional: true } },
    })
  })

  it('name the directory of the package where the repository is known', () => {
    const repository = { type: 'git', url: 'git+https://example.com/coracle.git' }
    const about = { folder: 'packages/x', dependencies: {}, man: [] }
    expect(commandManifest(source, { ...common, repository }, about)).toMatchObject({
      repository: { ...repository, directory: 'packages/x' },
    })
    expect(commandManifest(source, common, about)).not.toHaveProperty('repository')
  })
})

describe('budgets', () => {
  it('tell what is too large, and what has none', () => {
    const name = '@coracle/api'
    expect(overBudget([{ name, packedBytes: 1, unpackedBytes: 1 }])).toEqual([])
    expect(overBudget([{ name, packedBytes: 1e9, unpackedBytes: 1 }])).toEqual([
      '@coracle/api is 1000000000 bytes packed, and may be 850000',
    ])
    expect(overBudget([{ name: 'new', packedBytes: 1, unpackedBytes: 1 }])).toEqual([
      'new has no budget: give it one in scripts/release/budgets.ts',
    ])
  })
})

describe('the audit', () => {
  it('finds what the registry knows', () => {
    const answer = { vulnerabilities: { x: { name: 'x', severity: 'high', range: '<2' } } }
    expect(auditResult(JSON.stringify(answer))).toEqual({ findings: ['x <2: high'] })
    expect(auditResult('{"vulnerabilities":{}}')).toEqual({ findings: [] })
  })

  it('does not take silence for a good answer', () => {
    expect(auditResult('{"message":"405 Method Not Allowed"}')).toEqual({
      findings: [],
      notAsked: 'npm audit was not answered: 405 Method Not Allowed',
    })
    expect(auditResult('')).toMatchObject({ notAsked: 'npm audit was not answered: no answer' })
  })
})

describe('the bill of materials', () => {
  it('names what is installed with the packages, and nothing that is for development alone', () => {
    const { components, dependencies } = JSON.parse(sbom(root))
    const names = components.map((component: { purl: string }) => /^pkg:npm\/(.*)@/.exec(component.purl)?.[1])
    expect(names).toEqual(expect.arrayContaining(['lmdb', 'yaml', '%40grpc/grpc-js', '%40coracle/api']))
    expect(names).not.toContain('vitest')
    expect(names).not.toContain('fast-check')
    expect(JSON.stringify(dependencies)).not.toContain('vitest')
  })
})

const pages = await manPages('1.2.3')

describe('pages for man', () => {
  const textOf = (name: string) => pages.find((page) => page.name === name)?.text ?? ''

  it('are there for the program and for each of its commands', () => {
    expect(pages.map(({ name }) => name)).toEqual(expect.arrayContaining(['coracle.1', 'coracle-rollout.1']))
    expect(textOf('coracle.1')).toContain('.B coracle\\-rollout(1)\nfollow, undo, hold and repeat rollouts')
  })

  it('have the sections of a manual page, with those of the commands below', () => {
    const headings = [...textOf('coracle-rolling-update.1').matchAll(/^\.SH (.*)$/gm)].map(([, heading]) => heading)
    expect(headings).toEqual(['NAME', 'SYNOPSIS', 'DESCRIPTION', 'OPTIONS', 'EXAMPLES', 'EXIT STATUS', 'SEE ALSO'])
    expect(textOf('coracle-rollout.1')).toContain('.SH CORACLE ROLLOUT UNDO\n.SS SYNOPSIS')
  })

  it('show text as it is: no line is a request by chance, no hyphen is a dash', () => {
    const lines = pages.flatMap(({ text }) => text.split('\n'))
    const requests = new Set(lines.flatMap((line) => /^\.\w+/.exec(line)?.[0] ?? []))
    expect([...requests].sort()).toEqual(['.B', '.PP', '.RE', '.RS', '.SH', '.SS', '.TH', '.TP', '.fi', '.nf'])
    expect(textOf('coracle-up.1')).toContain('.B \\-\\-nodes <count>')
  })
})
