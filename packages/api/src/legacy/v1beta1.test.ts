import { describe, expect, it } from 'vitest'
import { ApiError } from '../status.ts'
import { convertLegacy } from './v1beta1.ts'

/** The controller of the first guestbook example. */
const frontend = {
  apiVersion: 'v1beta1',
  kind: 'ReplicationController',
  id: 'frontend-controller',
  desiredState: {
    replicas: 2,
    replicaSelector: { name: 'frontend' },
    podTemplate: {
      desiredState: {
        manifest: {
          version: 'v1beta1',
          id: 'frontend-controller',
          containers: [
            { name: 'php-redis', image: 'brendanburns/php-redis', ports: [{ containerPort: 80, hostPort: 8000 }] },
          ],
        },
      },
      labels: { name: 'frontend' },
    },
  },
  labels: { name: 'frontend' },
}

const withManifest = (manifest: unknown): unknown => ({
  ...frontend,
  desiredState: { ...frontend.desiredState, podTemplate: { desiredState: { manifest }, labels: { name: 'frontend' } } },
})

const withContainer = (container: object): unknown =>
  withManifest({ version: 'v1beta1', containers: [{ name: 'web', image: 'nginx', ...container }] })

/** The pod spec that a container with these members becomes, in v1. */
const converted = (value: unknown): unknown => {
  const result = convertLegacy(value) as { spec: { template: { spec: unknown } } }
  return result.spec.template.spec
}

function problemsOf(value: unknown): readonly string[] {
  try {
    convertLegacy(value)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    expect([error.code, error.reason]).toEqual([422, 'Invalid'])
    return (error.status.details?.causes ?? []).map(({ field, message }) => `${field}: ${message}`)
  }
  return []
}

describe('a v1beta1 replication controller', () => {
  it('becomes a v1 one', () => {
    expect(convertLegacy(frontend)).toEqual({
      apiVersion: 'v1',
      kind: 'ReplicationController',
      metadata: { name: 'frontend-controller', labels: { name: 'frontend' } },
      spec: {
        replicas: 2,
        selector: { name: 'frontend' },
        template: {
          metadata: { labels: { name: 'frontend' } },
          spec: {
            containers: [
              { name: 'php-redis', image: 'brendanburns/php-redis', ports: [{ containerPort: 80, hostPort: 8000 }] },
            ],
          },
        },
      },
    })
  })

  it('keeps namespace, annotations and where its pods may run', () => {
    const { desiredState } = frontend
    const podTemplate = { ...desiredState.podTemplate, annotations: { a: 'b' }, nodeSelector: { disk: 'ssd' } }
    expect(
      convertLegacy({
        ...frontend,
        namespace: 'shop',
        annotations: { c: 'd' },
        desiredState: { ...desiredState, podTemplate },
      }),
    ).toMatchObject({
      metadata: { namespace: 'shop', annotations: { c: 'd' } },
      spec: { template: { metadata: { annotations: { a: 'b' } }, spec: { nodeSelector: { disk: 'ssd' } } } },
    })
  })

  it('drops what a server once wrote into it', () => {
    const readBack = {
      ...frontend,
      uid: 'x',
      creationTimestamp: null,
      selfLink: '/x',
      resourceVersion: 7,
      currentState: {},
    }
    expect(convertLegacy(readBack)).toEqual(convertLegacy(frontend))
  })

  it.each<readonly [string, object, object]>([
    [
      'entrypoint and command',
      { entrypoint: ['/bin/sh'], command: ['-c', 'x'] },
      { command: ['/bin/sh'], args: ['-c', 'x'] },
    ],
    ['the older key of a variable', { env: [{ key: 'A', value: '1' }] }, { env: [{ name: 'A', value: '1' }] }],
    ['variables', { env: [{ name: 'A', value: '1' }] }, { env: [{ name: 'A', value: '1' }] }],
    [
      'variables of the downward API',
      { env: [{ name: 'IP', valueFrom: { fieldPath: { apiVersion: 'v1beta1', fieldPath: 'status.podIP' } } }] },
      { env: [{ name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }] },
    ],
    [
      'variables of the downward API in the words of v1',
      { env: [{ name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }] },
      { env: [{ name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }] },
    ],
    [
      'protocols',
      { ports: [{ containerPort: 53, protocol: 'udp' }] },
      { ports: [{ containerPort: 53, protocol: 'UDP' }] },
    ],
    ['cpu and memory', { cpu: 250, memory: 1024 }, { resources: { limits: { cpu: '250m', memory: '1024' } } }],
    ['no cpu', { cpu: 0 }, {}],
    ['limits over cpu', { cpu: 1, resources: { limits: { cpu: '2' } } }, { resources: { limits: { cpu: '2' } } }],
    ['pull policies', { imagePullPolicy: 'PullIfNotPresent' }, { imagePullPolicy: 'IfNotPresent' }],
    [
      'privileges',
      { privileged: true, capabilities: { add: ['NET_ADMIN'] } },
      { securityContext: { privileged: true, capabilities: { add: ['NET_ADMIN'] } } },
    ],
    [
      'the older path of a mount',
      { volumeMounts: [{ name: 'v', path: '/data', mountType: 'LOCAL' }] },
      { volumeMounts: [{ name: 'v', mountPath: '/data' }] },
    ],
    [
      'probes',
      { livenessProbe: { type: 'http', httpGet: { path: '/', port: 80 }, initialDelaySeconds: 30 } },
      { livenessProbe: { httpGet: { path: '/', port: 80 }, initialDelaySeconds: 30 } },
    ],
  ])('converts %s of a container', (_, before, after) => {
    expect(converted(withContainer(before))).toEqual({ containers: [{ name: 'web', image: 'nginx', ...after }] })
  })

  it.each<readonly [string, object, object]>([
    ['restart always', { restartPolicy: { always: {} } }, { restartPolicy: 'Always' }],
    ['restart on failure', { restartPolicy: { onFailure: {} } }, { restartPolicy: 'OnFailure' }],
    ['restart never', { restartPolicy: { never: {} } }, { restartPolicy: 'Never' }],
    ['a DNS policy', { dnsPolicy: 'Default' }, { dnsPolicy: 'Default' }],
    ['a bare volume', { volumes: [{ name: 'v' }] }, { volumes: [{ name: 'v', emptyDir: {} }] }],
    [
      'an empty directory',
      { volumes: [{ name: 'v', source: { emptyDir: {} } }] },
      { volumes: [{ name: 'v', emptyDir: {} }] },
    ],
    [
      'a directory of the host',
      { volumes: [{ name: 'v', source: { hostDir: { path: '/srv' } } }] },
      { volumes: [{ name: 'v', hostPath: { path: '/srv' } }] },
    ],
    [
      'a secret',
      { volumes: [{ name: 'v', source: { secret: { target: { kind: 'Secret', name: 's' } } } }] },
      { volumes: [{ name: 'v', secret: { secretName: 's' } }] },
    ],
  ])('converts %s of a manifest', (_, before, after) => {
    const containers = [{ name: 'web', image: 'nginx' }]
    expect(converted(withManifest({ containers, ...before }))).toEqual({ containers, ...after })
  })

  it.each<readonly [string, unknown, readonly string[]]>([
    ['no id', { ...frontend, id: undefined }, ['id: Required value']],
    [
      'an id that is no RFC 1035 label',
      { ...frontend, id: '1-Frontend' },
      [
        "id: Invalid value: \"1-Frontend\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
      ],
    ],
    [
      'a selector that its pods do not match',
      { ...frontend, desiredState: { ...frontend.desiredState, replicaSelector: { name: 'backend' } } },
      [
        'desiredState.replicaSelector: Invalid value: {"name":"backend"}: `replicaSelector` does not match `podTemplate.labels`',
      ],
    ],
    [
      'fewer than no replicas',
      { ...frontend, desiredState: { ...frontend.desiredState, replicas: -1 } },
      ['desiredState.replicas: Invalid value: -1: must be greater than or equal to 0'],
    ],
    ['no state', { ...frontend, desiredState: undefined }, ['desiredState.podTemplate: Required value']],
    [
      'no manifest',
      { ...frontend, desiredState: { podTemplate: { labels: {} } } },
      ['desiredState.podTemplate.desiredState.manifest: Required value'],
    ],
    [
      'no containers',
      withManifest({ version: 'v1beta1' }),
      ['desiredState.podTemplate.desiredState.manifest.containers: Required value'],
    ],
    [
      'a container without name and image',
      withManifest({ containers: [{}] }),
      [
        'desiredState.podTemplate.desiredState.manifest.containers[0].name: Required value',
        'desiredState.podTemplate.desiredState.manifest.containers[0].image: Required value',
      ],
    ],
    [
      'a version of manifests that never was',
      withManifest({ version: 'v9', containers: [{ name: 'a', image: 'b' }] }),
      [
        'desiredState.podTemplate.desiredState.manifest.version: Unsupported value: "v9": supported values: "v1beta1", "v1beta2"',
      ],
    ],
    [
      'unknown fields, at every depth',
      { ...frontend, spec: {}, desiredState: { ...frontend.desiredState, replica: 2 } },
      ['spec: Forbidden: unknown field', 'desiredState.replica: Forbidden: unknown field'],
    ],
    [
      'an unknown field of a container',
      withContainer({ ports: [{ containrPort: 80 }] }),
      ['desiredState.podTemplate.desiredState.manifest.containers[0].ports[0].containrPort: Forbidden: unknown field'],
    ],
    [
      'values of the wrong type',
      { ...frontend, labels: { a: 1 }, desiredState: { ...frontend.desiredState, replicas: '2' } },
      [
        'labels[a]: Invalid value: 1: must be a string',
        'desiredState.replicas: Invalid value: "2": must be an integer',
      ],
    ],
  ])('is refused with %s', (_, value, problems) => {
    expect(problemsOf(value)).toEqual(problems)
  })

  it('names the controller in the error', () => {
    expect(() => convertLegacy({ ...frontend, spec: {} })).toThrow(
      'ReplicationController "frontend-controller" is invalid: spec: Forbidden: unknown field',
    )
  })
})

describe('anything else', () => {
  it.each([
    [{ apiVersion: 'v1', kind: 'ReplicationController', id: 'x' }],
    [{ apiVersion: 'v1beta1', kind: 'Pod', id: 'x' }],
    [[frontend]],
    ['text'],
    [null],
  ])('passes through untouched', (value) => {
    expect(convertLegacy(value)).toBe(value)
  })
})
