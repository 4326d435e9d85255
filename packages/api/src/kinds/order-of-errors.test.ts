import { expect, it } from 'vitest'
import { type Draft, problemsOfCreate } from '../../test/requests.ts'
import type { StoredKind } from '../stored-kind.ts'
import { builtinKinds } from './builtin-kinds.ts'

function kindOf(name: string): StoredKind {
  const found = builtinKinds.find(({ kind }) => kind === name)
  if (found === undefined) throw new Error(`no kind ${name}`)
  return found
}

/** What is wrong with a creation: the field, and the first words of what is said of it. */
const told = (kind: string, draft: Draft) =>
  problemsOfCreate(kindOf(kind), draft).map(
    (line) => /^(?:\S+: )?(?:Required|Invalid|Unsupported|Not found|Forbidden)/.exec(line)?.[0],
  )

const labels = { app: 'web' }
const selector = { matchLabels: labels }

it.each<[string, Draft, readonly string[]]>([
  [
    'Deployment',
    { spec: {} },
    ['spec.selector: Required', 'spec.template.metadata.labels: Invalid', 'spec.template.spec.containers: Required'],
  ],
  [
    'Deployment',
    {
      spec: {
        replicas: -1,
        selector,
        minReadySeconds: -1,
        template: {
          metadata: { labels },
          spec: { restartPolicy: 'Never', containers: [{ imagePullPolicy: 'x', ports: [{}] }, { name: 'A' }] },
        },
      },
    },
    [
      'spec.replicas: Invalid',
      'spec.template.spec.containers[0].name: Required',
      'spec.template.spec.containers[0].image: Required',
      'spec.template.spec.containers[0].ports[0].containerPort: Required',
      'spec.template.spec.containers[0].imagePullPolicy: Unsupported',
      'spec.template.spec.containers[1].name: Invalid',
      'spec.template.spec.containers[1].image: Required',
      'spec.template.spec.restartPolicy: Unsupported',
      'spec.minReadySeconds: Invalid',
    ],
  ],
  [
    'StatefulSet',
    { spec: { replicas: -1, minReadySeconds: -1 } },
    [
      'spec.replicas: Invalid',
      'spec.minReadySeconds: Invalid',
      'spec.selector: Required',
      'spec.template.metadata.labels: Invalid',
      'spec.template.spec.containers: Required',
    ],
  ],
  [
    'DaemonSet',
    { spec: { minReadySeconds: -1 } },
    [
      'spec.template.metadata.labels: Invalid',
      'spec.template.spec.containers: Required',
      'spec.minReadySeconds: Invalid',
    ],
  ],
  [
    'Job',
    { spec: { parallelism: -1, template: { spec: { containers: [{}] } } } },
    [
      'spec.parallelism: Invalid',
      'spec.template.spec.containers[0].name: Required',
      'spec.template.spec.containers[0].image: Required',
      'spec.template.spec.restartPolicy: Required',
    ],
  ],
  [
    'CronJob',
    {
      spec: {
        schedule: 'never',
        startingDeadlineSeconds: -1,
        timeZone: 'Mars',
        concurrencyPolicy: 'x',
        jobTemplate: { spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c' }] } } } },
      },
    },
    [
      'spec.schedule: Invalid',
      'spec.startingDeadlineSeconds: Invalid',
      'spec.timeZone: Invalid',
      'spec.concurrencyPolicy: Unsupported',
      'spec.jobTemplate.spec.template.spec.containers[0].image: Required',
    ],
  ],
  [
    'Service',
    {
      spec: {
        type: 'x',
        sessionAffinity: 'x',
        ports: [
          { name: 'A', port: 0 },
          { port: 1, protocol: 'x' },
        ],
      },
    },
    [
      'spec.ports[0].name: Invalid',
      'spec.ports[0].port: Invalid',
      'spec.ports[0].targetPort: Invalid',
      'spec.ports[1].name: Required',
      'spec.ports[1].protocol: Unsupported',
      'spec.sessionAffinity: Unsupported',
      'spec.type: Unsupported',
    ],
  ],
  [
    'Pod',
    {
      spec: {
        restartPolicy: 'x',
        dnsPolicy: 'x',
        nodeSelector: { 'a b': '' },
        volumes: [
          { name: 'A', hostPath: { path: '' } },
          { name: '', nfs: {}, emptyDir: {} },
        ],
        initContainers: [{ name: 'i', image: 'i', env: [{ name: '', value: '' }] }],
        containers: [{ name: 'c', volumeMounts: [{ name: 'none', mountPath: '/x' }], imagePullPolicy: 'x' }],
      },
    },
    [
      'spec.volumes[0].hostPath.path: Required',
      'spec.volumes[0].name: Invalid',
      'spec.volumes[1].nfs: Forbidden',
      'spec.volumes[1].name: Required',
      'spec.containers[0].image: Required',
      'spec.containers[0].volumeMounts[0].name: Not found',
      'spec.containers[0].imagePullPolicy: Unsupported',
      'spec.initContainers[0].env[0].name: Required',
      'spec.restartPolicy: Unsupported',
      'spec.dnsPolicy: Unsupported',
      'spec.nodeSelector: Invalid',
    ],
  ],
  [
    'Ingress',
    {
      spec: {
        rules: [{ host: 'A', http: { paths: [{ path: 'x', pathType: 'Exact', backend: { service: {} } }] } }],
        defaultBackend: { service: { port: { number: 1 } } },
      },
    },
    [
      'spec.defaultBackend.service.name: Required',
      'spec.rules[0].host: Invalid',
      'spec.rules[0].http.paths[0].path: Invalid',
      'spec.rules[0].http.paths[0].backend.service.name: Required',
      'spec.rules[0].http.paths[0].backend: Required',
    ],
  ],
  [
    'HorizontalPodAutoscaler',
    { spec: { minReplicas: 0, maxReplicas: 0, scaleTargetRef: {}, metrics: [{ type: 'Resource' }] } },
    [
      'spec.minReplicas: Invalid',
      'spec.maxReplicas: Required',
      'spec.scaleTargetRef.kind: Required',
      'spec.scaleTargetRef.name: Required',
      'spec.scaleTargetRef.apiVersion: Invalid',
      'spec.metrics[0].resource: Required',
      'spec.metrics: Forbidden',
    ],
  ],
  [
    'RoleBinding',
    { subjects: [{ kind: 'x' }], roleRef: {} },
    [
      'roleRef.kind: Unsupported',
      'roleRef.name: Required',
      'subjects[0].name: Required',
      'subjects[0].kind: Unsupported',
    ],
  ],
])('what is wrong with a %s is told in the order in which upstream looks at its fields', (kind, draft, expected) => {
  expect(told(kind, draft)).toEqual(expected)
})
