import { createServer } from 'node:https'
import { createPki } from '@coracle/apiserver'
import { realEnvironment } from '@coracle/environment'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listenForTest } from '../packages/apiserver/src/testing/listen-for-test.ts'
import { rows } from './support/kubectl.ts'
import { Program } from './support/program.ts'

let program: Program
const kubectl = (...args: readonly string[]) => program.kubectlOk(args)

beforeAll(async () => {
  program = await Program.start({ args: ['--memory', '--runtime', 'simulated'] })
})
afterAll(() => program[Symbol.asyncDispose]())

describe('what the server says about itself', () => {
  it('has a version that kubectl reads, no more than one minor version away', async () => {
    const { code, stdout, stderr } = await program.kubectl(['version'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^Server Version: v1\.3\d\.\d+/m)
    expect(stderr).not.toContain('version difference')
    const { serverVersion } = JSON.parse(await kubectl('version', '-o', 'json')) as {
      readonly serverVersion: Readonly<Record<string, string>>
    }
    expect(serverVersion).toMatchObject({
      major: '1',
      minor: expect.stringMatching(/^3\d/),
      platform: expect.any(String),
    })
  })

  it('lists its resources with their short names', async () => {
    const [header, ...resources] = rows(await kubectl('api-resources'))
    expect(header).toEqual(['NAME', 'SHORTNAMES', 'APIVERSION', 'NAMESPACED', 'KIND'])
    expect(resources).toEqual(
      expect.arrayContaining([
        ['configmaps', 'cm', 'v1', 'true', 'ConfigMap'],
        ['events', 'ev', 'v1', 'true', 'Event'],
        ['namespaces', 'ns', 'v1', 'false', 'Namespace'],
        ['nodes', 'no', 'v1', 'false', 'Node'],
        ['pods', 'po', 'v1', 'true', 'Pod'],
        ['replicationcontrollers', 'rc', 'v1', 'true', 'ReplicationController'],
        ['secrets', 'v1', 'true', 'Secret'],
        ['serviceaccounts', 'sa', 'v1', 'true', 'ServiceAccount'],
        ['leases', 'coordination.k8s.io/v1', 'true', 'Lease'],
      ]),
    )
  })

  it('tells resources of namespaces from those of the cluster', async () => {
    const names = (await kubectl('api-resources', '--namespaced=false', '-o', 'name')).trim().split('\n')
    expect(names).toEqual(expect.arrayContaining(['namespaces', 'nodes']))
    expect(names).not.toContain('pods')
  })

  it('says which verbs and categories a resource has', async () => {
    const pods = (await kubectl('api-resources', '-o', 'wide')).split('\n').find((line) => line.startsWith('pods '))
    expect(pods).toContain('create,delete,deletecollection,get,list,patch,update,watch')
    expect(pods).toMatch(/ all$/)
    const all = (await kubectl('api-resources', '--categories=all', '-o', 'name')).trim().split('\n')
    expect(all).toEqual(expect.arrayContaining(['pods', 'replicationcontrollers']))
    expect(all).not.toContain('configmaps')
  })

  it('lists its API versions', async () => {
    expect((await kubectl('api-versions')).trim().split('\n')).toEqual(
      expect.arrayContaining(['coordination.k8s.io/v1', 'v1']),
    )
  })

  it.each(['readyz', 'livez', 'healthz'])('answers %s check by check', async (check) => {
    const answer = await kubectl('get', '--raw', `/${check}?verbose`)
    expect(answer).toMatch(/^\[\+\]ping ok$/m)
    expect(answer.trimEnd()).toMatch(new RegExp(`${check} check passed$`))
  })

  it('shows a raw path, and NotFound for one that is not there', async () => {
    expect(JSON.parse(await kubectl('get', '--raw', '/api/v1/namespaces/default'))).toMatchObject({ kind: 'Namespace' })
    const { code, stderr } = await program.kubectl(['get', '--raw', '/nowhere'])
    expect(code).toBe(1)
    expect(stderr).toContain('Error from server (NotFound): the server could not find the requested resource')
  })
})

describe('explain', () => {
  it('shows the fields of an object deep inside another', async () => {
    const text = await kubectl('explain', 'rc.spec.template.spec.containers')
    expect(text).toMatch(/^KIND: +ReplicationController\nVERSION: +v1\n/)
    expect(text).toContain('FIELD: containers <[]Container>')
    expect(text).toMatch(/^ {2}name\t<string> -required-$/m)
    expect(text).toMatch(/^ {2}env\t<\[\]EnvVar>$/m)
    expect(text).toMatch(/^ {2}imagePullPolicy\t<string>\n {2}enum: Always, IfNotPresent, Never$/m)
  })

  it('shows one field with its type and what it means', async () => {
    const text = await kubectl('explain', 'replicationcontroller.spec.replicas')
    expect(text).toContain('FIELD: replicas <integer>')
    expect(text).toMatch(/DESCRIPTION:\n {4}\S/)
  })

  it('shows the whole tree of fields', async () => {
    const text = await kubectl('explain', 'pod', '--recursive')
    expect(text).toMatch(/^ {2}spec\t<PodSpec>$/m)
    expect(text).toMatch(/^ {6}configMapKeyRef\t|^ {10}configMapKeyRef\t<ConfigMapKeySelector>$/m)
    expect(text).toMatch(/^ {4}podIP\t<string>$/m)
  })

  it('names a field that does not exist', async () => {
    const { code, stderr } = await program.kubectl(['explain', 'pod.spec.nowhere'])
    expect(code).toBe(1)
    expect(stderr).toBe('error: field "nowhere" does not exist\n')
  })

  it('names a kind that does not exist', async () => {
    const { code, stderr } = await program.kubectl(['get', 'unicorns'])
    expect(code).toBe(1)
    expect(stderr).toBe('error: the server doesn\'t have a resource type "unicorns"\n')
  })
})

describe('kinds of another server behind this one', () => {
  const group = 'shop.example.com'
  const document = {
    openapi: '3.0.0',
    info: { title: 'shop', version: 'v1' },
    paths: {
      [`/apis/${group}/v1/namespaces/{namespace}/orders`]: {
        get: {
          'x-kubernetes-action': 'list',
          'x-kubernetes-group-version-kind': { group, version: 'v1', kind: 'Order' },
          responses: { 200: { description: 'OK' } },
        },
      },
    },
    components: {
      schemas: {
        'com.example.shop.v1.Order': {
          type: 'object',
          description: 'Something that somebody wants.',
          properties: { amount: { type: 'integer', description: 'How many of it.' } },
          'x-kubernetes-group-version-kind': [{ group, version: 'v1', kind: 'Order' }],
        },
      },
    },
  }
  const resource = { name: 'orders', singularName: 'order', namespaced: true, kind: 'Order', verbs: ['get', 'list'] }
  const answers: Readonly<Record<string, unknown>> = {
    [`/apis/${group}/v1`]: { kind: 'APIResourceList', groupVersion: `${group}/v1`, resources: [resource] },
    '/openapi/v3': { paths: { [`apis/${group}/v1`]: { serverRelativeURL: `/openapi/v3/apis/${group}/v1?hash=A` } } },
    [`/openapi/v3/apis/${group}/v1`]: document,
  }

  it('are explained by kubectl and by coracle', async () => {
    const pki = createPki(realEnvironment(), ['shop.default.svc'])
    const { certificatePem: cert, keyPem: key } = pki.serving
    const server = createServer({ cert, key }, ({ url = '' }, response) => {
      response.setHeader('Content-Type', 'application/json')
      response.end(JSON.stringify(answers[url.split('?', 1)[0] ?? ''] ?? {}))
    })
    const port = await listenForTest(server)
    const service = { name: 'shop', namespace: 'default' }
    const objects = [
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: service,
        spec: { type: 'ExternalName', externalName: 'localhost' },
      },
      {
        apiVersion: 'apiregistration.k8s.io/v1',
        kind: 'APIService',
        metadata: { name: `v1.${group}` },
        spec: {
          group,
          version: 'v1',
          groupPriorityMinimum: 100,
          versionPriority: 100,
          caBundle: Buffer.from(pki.ca.certificatePem).toString('base64'),
          service: { ...service, port },
        },
      },
    ]
    await program.kubectlOk(['apply', '-f', '-'], {
      input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }),
    })
    await kubectl('wait', '--for=condition=Available', `apiservice/v1.${group}`, '--timeout=50s')
    const explained = await kubectl('explain', 'orders.amount', '--api-version', `${group}/v1`)
    expect(explained).toMatch(/KIND: +Order/)
    expect(explained).toContain('How many of it.')
    const ours = await program.coracle(['explain', 'orders.amount', '--api-version', `${group}/v1`])
    expect(ours).toMatchObject({ code: 0, stdout: explained })
  })
})
