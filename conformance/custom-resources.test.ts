import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CustomObjectsApi, KubeConfig } from '@kubernetes/client-node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectionOf, createHttpClient, loadKubeconfig } from '../packages/client/src/index.ts'
import { realEnvironment } from '../packages/environment/src/index.ts'
import { runHelm } from './support/helm.ts'
import { rows } from './support/kubectl.ts'
import { Program } from './support/program.ts'

// A kind of the user's own, as kubectl sees it from its definition to its end.

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'crontabs.stable.example.com' },
  spec: {
    group: 'stable.example.com',
    scope: 'Namespaced',
    names: { plural: 'crontabs', kind: 'CronTab', shortNames: ['ct'], categories: ['all'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: {
            specReplicasPath: '.spec.replicas',
            statusReplicasPath: '.status.replicas',
            labelSelectorPath: '.status.selector',
          },
        },
        additionalPrinterColumns: [
          { name: 'Spec', type: 'string', description: 'When it runs.', jsonPath: '.spec.cronSpec' },
          { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas' },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
        selectableFields: [{ jsonPath: '.spec.image' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description: 'Something that runs at times.',
            properties: {
              spec: {
                type: 'object',
                required: ['cronSpec'],
                properties: {
                  cronSpec: { type: 'string', description: 'When it runs, as cron has it.' },
                  image: { type: 'string' },
                  replicas: { type: 'integer', minimum: 0, default: 1 },
                },
              },
              status: {
                type: 'object',
                properties: { replicas: { type: 'integer' }, selector: { type: 'string' } },
              },
            },
          },
        },
      },
    ],
  },
}

const cronTab = (name: string, spec: object, metadata: object = {}) => ({
  apiVersion: 'stable.example.com/v1',
  kind: 'CronTab',
  metadata: { name, ...metadata },
  spec,
})

let program: Program
const kubectl = (...args: readonly string[]) => program.kubectlOk(args)
const withInput = (input: unknown, ...args: readonly string[]) =>
  program.kubectl([...args, '-f', '-'], { input: JSON.stringify(input) })
const establish = async (crd: { readonly metadata: { readonly name: string } } = definition) => {
  await withInput(crd, 'apply')
  await kubectl('wait', '--for=condition=Established', `crd/${crd.metadata.name}`, '--timeout=50s')
}

beforeAll(async () => {
  program = await Program.start({ args: ['--memory', '--runtime', 'simulated'] })
  await establish()
})
afterAll(() => program[Symbol.asyncDispose]())

describe('a kind made by a definition', () => {
  it('is listed among the resources as soon as it is established', async () => {
    const resources = rows(await kubectl('api-resources', '--api-group=stable.example.com', '--cached=false'))
    expect(resources[1]).toEqual(['crontabs', 'ct', 'stable.example.com/v1', 'true', 'CronTab'])
    expect(rows(await kubectl('get', 'crd'))[1]?.[0]).toBe('crontabs.stable.example.com')
  })

  it('has objects that are created, shown in the columns it names, found by field, and changed', async () => {
    const made = await withInput(cronTab('a', { cronSpec: '* * * * */5', image: 'mine' }), 'create')
    expect(made.stdout).toBe('crontab.stable.example.com/a created\n')
    const [header, row] = rows(await kubectl('get', 'ct'))
    expect(header).toEqual(['NAME', 'SPEC', 'REPLICAS', 'AGE'])
    expect(row?.slice(0, -1).join(' ')).toBe('a * * * * */5 1')
    expect(await kubectl('get', 'ct', '--field-selector=spec.image=mine', '-o', 'name')).toBe(
      'crontab.stable.example.com/a\n',
    )
    expect(await kubectl('get', 'ct', '--field-selector=spec.image=other', '-o', 'name')).toBe('')
    await kubectl('patch', 'ct', 'a', '--type=merge', '-p', '{"spec":{"image":"yours"},"status":{"replicas":5}}')
    const path = '{.metadata.generation} {.spec.image} {.status}'
    expect(await kubectl('get', 'ct', 'a', '-o', `jsonpath=${path}`)).toBe('2 yours ')
  })

  it('scales', async () => {
    await withInput(cronTab('scaled', { cronSpec: '@daily' }), 'create')
    expect(await kubectl('scale', 'ct/scaled', '--replicas=7')).toBe('crontab.stable.example.com/scaled scaled\n')
    expect(await kubectl('get', 'ct', 'scaled', '-o', 'jsonpath={.spec.replicas}')).toBe('7')
  })

  it('is explained', async () => {
    const text = await kubectl('explain', 'crontabs.spec.cronSpec')
    expect(text).toContain('When it runs, as cron has it.')
    expect(text).toContain('<string>')
  })

  it('refuses what does not fit its schema, naming the field', async () => {
    const { code, stderr } = await withInput(cronTab('b', { image: 'mine' }), 'create', '--validate=false')
    expect(code).toBe(1)
    expect(stderr).toContain('The CronTab "b" is invalid: spec.cronSpec: Required value')
    const strict = await withInput(cronTab('b', { cronSpec: '@daily', spce: 1 }), 'create')
    expect(strict.stderr).toContain('unknown field "spec.spce"')
  })
})

describe('a definition', () => {
  it('is refused with every mistake named', async () => {
    const wrong = {
      ...definition,
      metadata: { name: 'wrong.example.com' },
      spec: { ...definition.spec, group: 'example', versions: [{ name: 'V1', served: true, storage: false }] },
    }
    const { stderr } = await withInput(wrong, 'create', '--validate=false')
    for (const part of [
      'metadata.name: Invalid value: "wrong.example.com": must be spec.names.plural+"."+spec.group',
      'spec.group: Invalid value: "example": should be a domain with at least one dot',
      'spec.versions[0].name: Invalid value: "V1": a DNS-1035 label',
      'spec.versions[0].schema.openAPIV3Schema: Required value',
      'must have exactly one version marked as storage version',
    ]) {
      expect(stderr).toContain(part)
    }
  })

  it('does not get names that another has until that is gone', async () => {
    const first = renamed('firsts', 'First', ['sn'])
    const second = renamed('seconds', 'Second', ['sn'])
    await establish(first)
    await withInput(second, 'create')
    await kubectl('wait', '--for=condition=NamesAccepted=False', 'crd/seconds.stable.example.com', '--timeout=50s')
    const path = '{range .status.conditions[*]}{.type} {.reason} {.message};{end}'
    expect(await kubectl('get', 'crd', 'seconds.stable.example.com', '-o', `jsonpath=${path}`)).toBe(
      'NamesAccepted ShortNamesConflict "sn" is already in use;Established NotAccepted not all names are accepted;',
    )
    const none = await program.kubectl(['get', '--raw', '/apis/stable.example.com/v1/seconds'])
    expect(none.stderr).toContain('the server could not find the requested resource')
    await kubectl('delete', 'crd', 'firsts.stable.example.com')
    await kubectl('wait', '--for=condition=Established', 'crd/seconds.stable.example.com', '--timeout=50s')
    expect(await kubectl('get', '--raw', '/apis/stable.example.com/v1/seconds')).toContain('SecondList')
    await kubectl('delete', 'crd', 'seconds.stable.example.com')
  })

  it('takes its objects with it, once their finalizers are gone', async () => {
    const doomed = renamed('doomeds', 'Doomed', [])
    await establish(doomed)
    const object = { ...cronTab('a', { cronSpec: '@daily' }, { finalizers: ['example.com/hold'] }), kind: 'Doomed' }
    await withInput(object, 'create')
    await kubectl('delete', 'crd', 'doomeds.stable.example.com', '--wait=false')
    await kubectl('wait', '--for=condition=Terminating', 'crd/doomeds.stable.example.com', '--timeout=50s')
    const late = await withInput({ ...object, metadata: { name: 'late' } }, 'create')
    expect(late.stderr).toContain('create not allowed while custom resource definition is terminating')
    await kubectl('patch', 'doomeds', 'a', '--type=json', '-p', '[{"op":"remove","path":"/metadata/finalizers"}]')
    await kubectl('wait', '--for=delete', 'crd/doomeds.stable.example.com', '--timeout=50s')
    const gone = await program.kubectl(['get', '--raw', '/apis/stable.example.com/v1/doomeds'])
    expect(gone.stderr).toContain('the server could not find the requested resource')
  })
})

it('goes with its objects also where it serves no version', async () => {
  const hidden = renamed('hiddens', 'Hidden', [])
  await establish(hidden)
  await withInput({ ...cronTab('a', { cronSpec: '@daily' }), kind: 'Hidden' }, 'create')
  const unserved = JSON.stringify([{ op: 'replace', path: '/spec/versions/0/served', value: false }])
  await kubectl('patch', 'crd', 'hiddens.stable.example.com', '--type=json', '-p', unserved)
  await kubectl('delete', 'crd', 'hiddens.stable.example.com', '--timeout=50s')
  await establish(hidden)
  expect(await kubectl('get', 'hiddens', '-A')).toBe('')
  await kubectl('delete', 'crd', 'hiddens.stable.example.com')
})

describe('server-side apply of an object of the user’s own kind', () => {
  const applied = (spec: object) => cronTab('applied', spec)
  const apply = (object: unknown, manager: string, ...args: readonly string[]) =>
    withInput(object, 'apply', '--server-side', `--field-manager=${manager}`, ...args)
  const spec = async () => JSON.parse(await kubectl('get', 'ct', 'applied', '-o', 'json')).spec

  it('by kubectl: what a manager leaves out goes, and what another owns is refused until it is forced', async () => {
    expect((await apply(applied({ cronSpec: '@daily', image: 'a' }), 'one')).stdout).toContain('serverside-applied')
    await apply(applied({ cronSpec: '@daily' }), 'one')
    expect(await spec()).toEqual({ cronSpec: '@daily', replicas: 1 })
    const refused = await apply(applied({ cronSpec: '@hourly' }), 'two')
    expect(refused.stderr).toContain('conflict with "one": .spec.cronSpec')
    expect((await apply(applied({ cronSpec: '@hourly' }), 'two', '--force-conflicts')).code).toBe(0)
    expect((await spec()).cronSpec).toBe('@hourly')
    // Scaling takes the field over from nobody, and an apply that says another count is refused.
    await kubectl('scale', 'ct/applied', '--replicas=4')
    expect((await apply(applied({ cronSpec: '@hourly', replicas: 2 }), 'two')).stderr).toContain('.spec.replicas')
  })

  it('by our own client', async () => {
    const environment = realEnvironment()
    const connection = await connectionOf(await loadKubeconfig([program.kubeconfig]), environment)
    const client = createHttpClient({ ...connection, ...environment })
    const cronTabs = {
      group: 'stable.example.com',
      version: 'v1',
      kind: 'CronTab',
      plural: 'crontabs',
      namespaced: true,
    }
    const configuration = { ...cronTab('own', { cronSpec: '@daily' }, { namespace: 'default' }) }
    const made = await client.apply(cronTabs, configuration, { fieldManager: 'ours' })
    expect(made).toMatchObject({ metadata: { managedFields: [{ manager: 'ours', operation: 'Apply' }] } })
    const again = await client.apply(cronTabs, configuration, { fieldManager: 'ours' })
    expect(again.metadata.resourceVersion).toBe(made.metadata.resourceVersion)
    await client.close()
  })
})

it('goes with its namespace, and with its owner', async () => {
  await kubectl('create', 'namespace', 'away')
  await withInput(cronTab('a', { cronSpec: '@daily' }, { namespace: 'away' }), 'create')
  await kubectl('delete', 'namespace', 'away', '--timeout=50s')
  await kubectl('create', 'configmap', 'owner')
  const uid = await kubectl('get', 'configmap', 'owner', '-o', 'jsonpath={.metadata.uid}')
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }]
  await withInput(cronTab('owned', { cronSpec: '@daily' }, { ownerReferences }), 'create')
  await kubectl('delete', 'configmap', 'owner')
  await kubectl('wait', '--for=delete', 'ct/owned', '--timeout=50s')
})

it('has a kind that is not served refused by its name', async () => {
  const unknown = { apiVersion: 'stable.example.com/v1', kind: 'Unknown', metadata: { name: 'a' } }
  const { stderr } = await withInput(unknown, 'create')
  expect(stderr).toContain('no matches for kind "Unknown" in version "stable.example.com/v1"')
  expect(stderr).toContain('ensure CRDs are installed first')
})

it('comes with a Helm chart that brings its definition and an object of it', async () => {
  const home = await mkdtemp(join(tmpdir(), 'coracle-'))
  try {
    const chart = join(home, 'charted')
    await mkdir(join(chart, 'templates'), { recursive: true })
    await mkdir(join(chart, 'crds'))
    const charted = renamed('charteds', 'Charted', [])
    const object = {
      apiVersion: 'stable.example.com/v1',
      kind: 'Charted',
      metadata: { name: 'a' },
      spec: { cronSpec: '@daily' },
    }
    await writeFile(join(chart, 'Chart.yaml'), 'apiVersion: v2\nname: charted\nversion: 1.0.0\n')
    await writeFile(join(chart, 'crds', 'charted.yaml'), JSON.stringify(charted))
    await writeFile(join(chart, 'templates', 'a.yaml'), JSON.stringify(object))
    const installed = await runHelm(program, home, ['install', 'charted', chart, '--wait', '--timeout', '50s'])
    expect(installed.stderr).toBe('')
    expect(await kubectl('get', 'charteds', '-o', 'jsonpath={.items[*].spec.replicas}')).toBe('1')
    expect((await runHelm(program, home, ['uninstall', 'charted'])).code).toBe(0)
    expect(await kubectl('get', 'charteds', '-o', 'name')).toBe('')
  } finally {
    await rm(home, { recursive: true })
  }
})

it('is read and written by the official JavaScript client, and by our own command', async () => {
  const config = new KubeConfig()
  config.loadFromFile(program.kubeconfig)
  const at = { group: 'stable.example.com', version: 'v1', namespace: 'default', plural: 'crontabs' }
  const objects = config.makeApiClient(CustomObjectsApi)
  await objects.createNamespacedCustomObject({ ...at, body: cronTab('js', { cronSpec: '@hourly' }) })
  expect(await objects.getNamespacedCustomObject({ ...at, name: 'js' })).toMatchObject({ spec: { replicas: 1 } })
  const { stdout } = await program.coracle(['get', 'ct', 'js'])
  expect(rows(stdout)[1]?.slice(0, 3)).toEqual(['js', '@hourly', '1'])
  await objects.deleteNamespacedCustomObject({ ...at, name: 'js' })
})

function renamed(plural: string, kind: string, shortNames: readonly string[]) {
  const names = { plural, kind, shortNames }
  return {
    ...definition,
    metadata: { name: `${plural}.stable.example.com` },
    spec: { ...definition.spec, names, scope: plural === 'doomeds' ? 'Namespaced' : 'Cluster' },
  }
}
