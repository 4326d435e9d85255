import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ConfigMap, Container, Secret, Service } from '@coracle/api'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testContainer, testPod } from '../testing/pods.ts'
import type { MountedVolumes } from '../volumes/claimed-volumes.ts'
import { envFileBytesMax } from './env-file.ts'
import { environmentVariables } from './environment-variables.ts'
import { expand } from './expand.ts'
import { expandCommand } from './expand-command.ts'
import { processTextBytesMax } from './limits.ts'
import { atServer, servicesFor, serviceVariables } from './service-variables.ts'

const settings: ConfigMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'settings' },
  data: { mode: 'fast', level: '3', 'not=possible': 'x' },
}
const keys: Secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys' }, data: { token: 'c2VjcmV0' } }

const service = (namespace: string, name: string, spec: object): Service =>
  ({ apiVersion: 'v1', kind: 'Service', metadata: { namespace, name }, spec }) as Service

async function variables(
  fields: Partial<Container>,
  services: readonly Service[] = [],
  spec: object = {},
  volumes: MountedVolumes = new Map(),
): Promise<Record<string, string>> {
  const pod = testPod(
    { serviceAccountName: 'robot', ...spec },
    { metadata: { labels: { app: 'shop' }, annotations: { 'x.y/z': 'note' } } },
  )
  const context = {
    pod,
    podAddresses: ['127.1.0.1'],
    nodeAddress: '127.0.0.1',
    allocatable: { cpu: '8', memory: '1Gi' },
  }
  const sources = {
    configMap: async (_: string, name: string) => (name === 'settings' ? settings : undefined),
    secret: async (_: string, name: string) => (name === 'keys' ? keys : undefined),
    services: (namespace: string) => services.filter(({ metadata }) => metadata.namespace === namespace),
  }
  const list = await environmentVariables(testContainer(fields), context, sources, volumes)
  return Object.fromEntries(list.map(({ name, value }) => [name, value]))
}

const field = (fieldPath: string) => ({ env: [{ name: 'V', valueFrom: { fieldRef: { fieldPath } } }] })
const resource = (name: string, divisor?: string) => ({
  resources: { limits: { memory: '300Mi' }, requests: { cpu: '250m' } },
  env: [
    { name: 'V', valueFrom: { resourceFieldRef: { resource: name, ...(divisor === undefined ? {} : { divisor }) } } },
  ],
})

describe('references in texts', () => {
  it.each([
    ['$(A)', '1'],
    ['x$(A)y$(B)', 'x1y2'],
    ['$(UNKNOWN)', '$(UNKNOWN)'],
    ['$$(A)', '$(A)'],
    ['$$$(A)', '$1'],
    ['$A and $', '$A and $'],
    ['$(C)', '$(A)'],
    ['$(A', '$(A'],
    ['$($(A)', '$($(A)'],
    ['$()', '$()'],
    ['$', '$'],
    ['$(A)$', '1$'],
  ])('%s becomes %s', (text, expected) => {
    const values = new Map([
      ['A', '1'],
      ['B', '2'],
      ['C', '$(A)'],
    ])
    expect(expand(text, (name) => values.get(name), 100)).toBe(expected)
  })
})

describe('texts that are too long', () => {
  const values = new Map([['A', 'é'.repeat(5)]])
  const lookUp = (name: string) => values.get(name)

  it('are not worked out: the limit counts bytes', () => {
    expect(expand('$(A)', lookUp, 10)).toBe('ééééé')
    expect(expand('$(A)', lookUp, 9)).toBeUndefined()
    expect(expand('$(A)'.repeat(10_000_000), lookUp, 100)).toBeUndefined()
  })

  it('take no longer than their length asks for, closed or not', () => {
    const opened = '$('.repeat(1_000_000)
    expect(expand(opened, lookUp, opened.length)).toBe(opened)
    expect(expand(`${opened})`, lookUp, opened.length + 1)).toBe(`${opened})`)
  })
})

describe('commands', () => {
  const values = new Map([['A', 'x'.repeat(100_000)]])

  it('take up the values of variables', () => {
    expect(expandCommand(['echo', '$(B)', '$(C)'], new Map([['B', '1']]), 'args')).toEqual(['echo', '1', '$(C)'])
  })

  it.each([
    [['echo', '$(A)$(A)'], 'args[1] is longer than 131008 bytes, the most that a process takes in one piece'],
    [Array(20).fill('$(A)'), 'args[10] makes the args larger than 1048576 bytes: leave some of it out'],
  ])('are bounded', (command, message) => {
    expect(() => expandCommand(command, values, 'args')).toThrow(message)
  })
})

describe('variables of a container', () => {
  it('refer to earlier ones only', async () => {
    const env = [
      { name: 'A', value: '$(B)' },
      { name: 'B', value: '2' },
      { name: 'C', value: '$(B)!' },
    ]
    expect(await variables({ env })).toEqual({ A: '$(B)', B: '2', C: '2!' })
  })

  it('are bounded, however short they are written', async () => {
    const doubled = (count: number) => [
      { name: 'V0', value: 'x'.repeat(1024) },
      ...Array.from({ length: count }, (_, index) => ({ name: `V${index + 1}`, value: `$(V${index})$(V${index})` })),
    ]
    expect((await variables({ env: doubled(6) })).V6).toHaveLength(64 * 1024)
    await expect(variables({ env: doubled(26) })).rejects.toThrow(
      'environment variable "V7" is longer than 131008 bytes, the most that a process takes in one piece',
    )
    const many = Array.from({ length: 100 }, (_, index) => ({ name: `M${index}`, value: '$(V6)' }))
    await expect(variables({ env: [...doubled(6), ...many] })).rejects.toThrow(
      'environment variable "M14" makes the environment larger than 1048576 bytes: leave some of it out',
    )
  })

  it('count once where a later one takes the place of an earlier', async () => {
    const value = 'x'.repeat(100_000)
    const env = Array.from({ length: 50 }, () => ({ name: 'V', value }))
    expect(await variables({ env })).toEqual({ V: value })
  })

  it('are bounded also where they come as they are', async () => {
    const value = 'x'.repeat(processTextBytesMax - 'V='.length)
    expect((await variables({ env: [{ name: 'V', value }] })).V).toBe(value)
    await expect(variables({ env: [{ name: 'LONG', value }] })).rejects.toThrow('environment variable "LONG" is longer')
  })

  it('come from whole ConfigMaps and Secrets, and env wins', async () => {
    const envFrom = [{ configMapRef: { name: 'settings' } }, { prefix: 'KEY_', secretRef: { name: 'keys' } }]
    expect(await variables({ envFrom, env: [{ name: 'mode', value: 'slow' }] })).toEqual({
      level: '3',
      mode: 'slow',
      KEY_token: 'secret',
    })
  })

  it.each([
    ['metadata.name', 'web'],
    ['metadata.namespace', 'default'],
    ['metadata.uid', 'uid-1'],
    ["metadata.labels['app']", 'shop'],
    ["metadata.annotations['x.y/z']", 'note'],
    ["metadata.labels['none']", ''],
    ['spec.nodeName', 'node-a'],
    ['spec.serviceAccountName', 'robot'],
    ['status.podIP', '127.1.0.1'],
    ['status.podIPs', '127.1.0.1'],
    ['status.hostIP', '127.0.0.1'],
  ])('tell the pod its %s', async (path, expected) => expect(await variables(field(path))).toEqual({ V: expected }))

  it.each([
    ['limits.memory', undefined, '314572800'],
    ['limits.memory', '1Mi', '300'],
    ['requests.cpu', undefined, '1'],
    ['requests.cpu', '1m', '250'],
    ['requests.memory', undefined, '0'],
    ['limits.cpu', undefined, '8'],
  ])('tell the container its %s in units of %s', async (name, divisor, expected) => {
    expect(await variables(resource(name, divisor))).toEqual({ V: expected })
  })

  it.each<[string, Partial<Container>]>([
    ['configmap "x" not found', { envFrom: [{ configMapRef: { name: 'x' } }] }],
    ['secret "x" not found', { envFrom: [{ secretRef: { name: 'x' } }] }],
    ['configmap "x" not found', { env: [{ name: 'V', valueFrom: { configMapKeyRef: { name: 'x', key: 'k' } } }] }],
    [
      "couldn't find key k in ConfigMap default/settings",
      { env: [{ name: 'V', valueFrom: { configMapKeyRef: { name: 'settings', key: 'k' } } }] },
    ],
    [
      "couldn't find key k in Secret default/keys",
      { env: [{ name: 'V', valueFrom: { secretKeyRef: { name: 'keys', key: 'k' } } }] },
    ],
  ])('are refused: %s', async (message, fields) => await expect(variables(fields)).rejects.toThrow(message))

  it('go without what is optional', async () => {
    const env = [{ name: 'V', valueFrom: { secretKeyRef: { name: 'x', key: 'k', optional: true } } }]
    expect(await variables({ env, envFrom: [{ configMapRef: { name: 'x', optional: true } }] })).toEqual({})
  })
})

describe('limits that a container has none of', () => {
  const asked = (name: string, containerName?: string) => ({
    name: `${containerName ?? 'own'} ${name}`,
    valueFrom: { resourceFieldRef: { resource: `limits.${name}`, ...(containerName ? { containerName } : {}) } },
  })

  it('are those of its pod, and then those of its node; of init containers that others ask about nothing is said', async () => {
    const resources = { limits: { cpu: '2', memory: '0' } }
    const containers = [testContainer({ name: 'web' }), testContainer({ name: 'other' })]
    const spec = { resources, containers, initContainers: [testContainer({ name: 'init' })] }
    const env = ['cpu', 'memory'].flatMap((name) => [asked(name), asked(name, 'other'), asked(name, 'init')])
    expect(await variables({ env: env as never }, [], spec)).toEqual({
      'own cpu': '2',
      'other cpu': '2',
      'init cpu': '0',
      'own memory': String(2 ** 30),
      'other memory': String(2 ** 30),
      'init memory': '0',
    })
  })
})

describe('variables from a file of a volume', () => {
  let directory: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'coracle-env-'))
    mkdirSync(join(directory, 'data/sub'), { recursive: true })
    writeFileSync(join(directory, 'secret'), "MODE='outside'\n")
    writeFileSync(join(directory, 'data/sub/app.env'), "MODE='fast'\nNONE=''\n")
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  const from = (path: string, key = 'MODE', optional = false, volumeName = 'data') =>
    variables(
      { env: [{ name: 'V', valueFrom: { fileKeyRef: { volumeName, path, key, optional } } }] },
      [],
      {},
      volumes(),
    )
  const volumes = (): MountedVolumes => new Map([['data', { path: join(directory, 'data'), readOnly: false }]])

  it('are read when the container starts', async () => expect(await from('sub/app.env')).toEqual({ V: 'fast' }))

  it.each(['LEVEL', 'NONE'])('have to be there, unless they are optional: %s', async (key) => {
    const file = join(directory, 'data/sub/app.env')
    await expect(from('sub/app.env', key)).rejects.toThrow(
      `environment variable key "${key}" not found in file "${file}"`,
    )
    expect(await from('sub/app.env', key, true)).toEqual({})
  })

  it('are a mistake where the file is not there, or is none, or is too large, optional or not', async () => {
    writeFileSync(join(directory, 'data/large.env'), `X='${'x'.repeat(envFileBytesMax)}'\n`)
    for (const path of ['none.env', 'sub', 'large.env', 'a\0b']) {
      for (const optional of [false, true]) {
        await expect(from(path, 'MODE', optional)).rejects.toThrow("couldn't parse env file")
      }
    }
  })

  it('come from the volume, wherever links lead', async () => {
    writeFileSync(join(directory, 'data/secret'), "MODE='inside'\n")
    symlinkSync('/secret', join(directory, 'data/absolute'))
    symlinkSync('../../secret', join(directory, 'data/sub/relative'))
    symlinkSync('circle', join(directory, 'data/circle'))
    expect(await from('absolute')).toEqual({ V: 'inside' })
    expect(await from('sub/relative')).toEqual({ V: 'inside' })
    await expect(from('circle')).rejects.toThrow('circle goes through too many links')
  })

  it('cannot be had on a node that keeps no files, and optional ones are left out there', async () => {
    await expect(from('app.env', 'MODE', false, 'x')).rejects.toThrow(
      'cannot find the volume "x" referenced by FileKeyRef',
    )
    expect(await from('app.env', 'MODE', true, 'x')).toEqual({})
  })
})

it.each(['constructor', 'toString', '__proto__'])('a key of no object that is not in it: %s', async (key) => {
  const env = (valueFrom: object) => ({ env: [{ name: 'V', valueFrom }] })
  await expect(variables(env({ configMapKeyRef: { name: 'settings', key } }))).rejects.toThrow(
    `couldn't find key ${key} in ConfigMap default/settings`,
  )
  await expect(variables(env({ secretKeyRef: { name: 'keys', key } }))).rejects.toThrow(
    `couldn't find key ${key} in Secret default/keys`,
  )
  expect(await variables(env({ configMapKeyRef: { name: 'settings', key, optional: true } }))).toEqual({})
})

describe('variables of services', () => {
  const api = service('default', 'kubernetes', { clusterIP: '10.96.0.1', ports: [{ name: 'https', port: 443 }] })
  const web = service('default', 'web-front', {
    clusterIP: '10.96.0.2',
    ports: [
      { port: 80, protocol: 'TCP' },
      { name: 'dns-udp', port: 53, protocol: 'UDP' },
    ],
  })

  it('say where each service of the namespace is, and how Docker says it', async () => {
    expect(await variables({}, [web])).toEqual({
      WEB_FRONT_SERVICE_HOST: '10.96.0.2',
      WEB_FRONT_SERVICE_PORT: '80',
      WEB_FRONT_SERVICE_PORT_DNS_UDP: '53',
      WEB_FRONT_PORT: 'tcp://10.96.0.2:80',
      WEB_FRONT_PORT_80_TCP: 'tcp://10.96.0.2:80',
      WEB_FRONT_PORT_80_TCP_PROTO: 'tcp',
      WEB_FRONT_PORT_80_TCP_PORT: '80',
      WEB_FRONT_PORT_80_TCP_ADDR: '10.96.0.2',
      WEB_FRONT_PORT_53_UDP: 'udp://10.96.0.2:53',
      WEB_FRONT_PORT_53_UDP_PROTO: 'udp',
      WEB_FRONT_PORT_53_UDP_PORT: '53',
      WEB_FRONT_PORT_53_UDP_ADDR: '10.96.0.2',
    })
  })

  it('write addresses of IPv6 as URLs have them', async () => {
    const six = service('default', 'six', { clusterIP: 'fd00::2', ports: [{ port: 80 }] })
    expect(await variables({}, [six])).toMatchObject({ SIX_PORT: 'tcp://[fd00::2]:80', SIX_SERVICE_HOST: 'fd00::2' })
  })

  it('leave out services of other namespaces and those without an address', async () => {
    const elsewhere = service('other', 'db', { clusterIP: '10.96.0.3', ports: [{ port: 1 }] })
    const headless = service('default', 'headless', { clusterIP: 'None', ports: [{ port: 1 }] })
    const named = service('default', 'named', { type: 'ExternalName', externalName: 'example.com' })
    expect(await variables({}, [elsewhere, headless, named])).toEqual({})
  })

  it('have that of the API beside one of its name that has no address', async () => {
    const headless = service('shop', 'kubernetes', { clusterIP: 'None', ports: [{ port: 1 }] })
    const own = service('shop', 'kubernetes', { clusterIP: '10.96.0.9', ports: [{ port: 1 }] })
    const found = (mine: Service) => hostOfApi(servicesFor('shop', true, (at) => (at === 'shop' ? [mine] : [api])))
    const hostOfApi = (services: readonly Service[]) => serviceVariables(services).get('KUBERNETES_SERVICE_HOST')
    expect([found(headless), found(own)]).toEqual(['10.96.0.1', '10.96.0.9'])
  })

  it('leave out all but the service of the API where the pod wants none', async () => {
    const { KUBERNETES_SERVICE_HOST, ...others } = await variables({}, [api, web], { enableServiceLinks: false })
    expect(KUBERNETES_SERVICE_HOST).toBe('10.96.0.1')
    expect(Object.keys(others).filter((name) => name.startsWith('WEB'))).toEqual([])
  })

  it('are those of a server for the API alone, where its service leads nowhere', async () => {
    const server = { address: '127.0.0.1', port: 6443 }
    const found = await variables({}, atServer([api, web], server))
    expect(found).toMatchObject({
      KUBERNETES_SERVICE_HOST: '127.0.0.1',
      KUBERNETES_SERVICE_PORT: '6443',
      KUBERNETES_PORT: 'tcp://127.0.0.1:6443',
    })
    expect(found.WEB_SERVICE_HOST).toBe((await variables({}, [web])).WEB_SERVICE_HOST)
  })

  it('can be referred to, and give way to what the container says', async () => {
    const env = [
      { name: 'URL', value: 'https://$(KUBERNETES_SERVICE_HOST):$(KUBERNETES_SERVICE_PORT)' },
      { name: 'KUBERNETES_SERVICE_PORT', value: '1' },
    ]
    expect(await variables({ env }, [api])).toMatchObject({
      URL: 'https://10.96.0.1:443',
      KUBERNETES_SERVICE_PORT: '1',
    })
  })
})
