import { describe, expect, it } from 'vitest'
import { FieldPath } from '../../../field-path.ts'
import type { ObjectMeta } from '../../../meta.ts'
import { pairsMax } from './pairs.ts'
import { storedPod } from './pod-fixtures.ts'
import type { PodSpec } from './pod-spec.ts'
import { podStatusWarnings, podTemplateWarnings, podWarnings } from './pod-warnings.ts'

const web = { name: 'web', image: 'web:1' }

function warningsFor(spec: Partial<PodSpec>, metadata: Partial<ObjectMeta> = {}): readonly string[] {
  const pod = storedPod(spec)
  return podWarnings({ ...pod, metadata: { ...pod.metadata, ...metadata } }, undefined)
}

describe('a new pod is warned of', () => {
  const term = { topologyKey: 'zone' }
  it.each<[string, Partial<PodSpec>, string]>([
    [
      'old labels of nodes',
      { nodeSelector: { 'beta.kubernetes.io/os': 'linux' } },
      'spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
    ],
    [
      'spreading over all pods by mistake',
      { topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }] },
      'spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod',
    ],
    [
      'an affinity to no pod',
      { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } },
      'spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector: a null labelSelector results in matching no pod',
    ],
    [
      'a weak affinity to no pod',
      {
        affinity: {
          podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term }] },
        },
      },
      'spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.labelSelector: a null labelSelector results in matching no pod',
    ],
    [
      'an address of the node without a port of the node',
      { containers: [{ ...web, ports: [{ name: 'http', containerPort: 80, hostIP: '127.0.0.1' }] }] },
      'spec.containers[0].ports[0]: hostIP set without hostPort: {Name:http HostPort:0 ContainerPort:80 Protocol:TCP HostIP:127.0.0.1}',
    ],
    [
      'the same port in two containers',
      { containers: ['a', 'b'].map((name) => ({ ...web, name, ports: [{ containerPort: 80 }] })) },
      'spec.containers[1].ports[0]: duplicate port definition with spec.containers[0].ports[0]',
    ],
    [
      'a port that is published and not',
      { containers: [{ ...web, ports: [{ containerPort: 80, hostPort: 8080 }, { containerPort: 80 }] }] },
      'spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]',
    ],
    [
      'two ports of a name',
      {
        containers: [
          {
            ...web,
            ports: [
              { name: 'a', containerPort: 80 },
              { name: 'a', containerPort: 81 },
            ],
          },
        ],
      },
      'spec.containers[0].ports[1]: duplicate port name "a" with spec.containers[0].ports[0], services and probes that select ports by name will use spec.containers[0].ports[0]',
    ],
    [
      'parts of bytes',
      { containers: [{ ...web, resources: { requests: { memory: '100m' } } }] },
      'spec.containers[0].resources.requests[memory]: fractional byte value "100m" is invalid, must be an integer',
    ],
    [
      'an address with two entries of names',
      { hostAliases: ['a', 'b'].map((name) => ({ ip: '10.0.0.1', hostnames: [name] })) },
      'spec.hostAliases[1].ip: duplicate ip "10.0.0.1"',
    ],
    [
      'a secret that is named twice',
      { imagePullSecrets: [{ name: 'a' }, { name: 'a' }] },
      'spec.imagePullSecrets[1].name: duplicate name "a"',
    ],
    [
      'volumes that no node mounts any longer',
      { volumes: [{ name: 'v', rbd: { monitors: ['a'], image: 'i' } }] },
      'spec.volumes[0].rbd: deprecated in v1.28, non-functional in v1.31+',
    ],
    [
      'files in the place of others',
      {
        volumes: [
          {
            name: 'v',
            configMap: {
              name: 'c',
              items: [
                { key: 'a', path: 'a' },
                { key: 'b', path: 'a/b' },
              ],
            },
          },
        ],
      },
      'volume "v" (ConfigMap "c"): overlapping paths: "a/b" with "a"',
    ],
    [
      'files of several sources in the place of others',
      {
        volumes: [
          {
            name: 'v',
            projected: {
              sources: [
                { serviceAccountToken: { path: 'token' } },
                { secret: { name: 's', items: [{ key: 'a', path: 'token' }] } },
              ],
            },
          },
        ],
      },
      'volume "v" (Projected): overlapping paths: "token" (Secret "s") with "token" (ServiceAccountToken)',
    ],
    [
      'addresses that are not written as usual',
      { dnsPolicy: 'None', dnsConfig: { nameservers: ['FD00::1'] } },
      'spec.dnsConfig.nameservers[0]: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")',
    ],
  ])('%s', (_, spec, warning) => {
    expect(warningsFor(spec)).toEqual([warning])
  })

  it('annotations that fields have taken the place of', () => {
    const annotations = { 'seccomp.security.alpha.kubernetes.io/pod': 'runtime/default' }
    const warning =
      'metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: non-functional in v1.27+; use the "seccompProfile" field instead'
    expect(warningsFor({}, { annotations })).toEqual([warning])
    expect(warningsFor({ securityContext: { seccompProfile: { type: 'RuntimeDefault' } } }, { annotations })).toEqual(
      [],
    )
  })

  it('nothing, where ports, files and names differ', () => {
    const ports = [
      { name: 'a', containerPort: 80 },
      { name: 'b', containerPort: 80, protocol: 'UDP' as const },
    ]
    const items = [
      { key: 'a', path: 'a' },
      { key: 'b', path: 'ab' },
    ]
    const volumes = [{ name: 'v', configMap: { name: 'c', items } }]
    expect(warningsFor({ containers: [{ ...web, ports }], volumes })).toEqual([])
  })
})

describe('a template', () => {
  const metadata = { annotations: { 'container.apparmor.security.beta.kubernetes.io/web': 'runtime/default' } }
  const path = FieldPath.of('spec', 'template')
  const of = (spec: Partial<PodSpec>) =>
    podTemplateWarnings({ metadata, spec: { ...storedPod().spec, ...spec } }, path, storedPod(), undefined)

  it('is warned of AppArmor by annotations, unless the pod has the same by its field', () => {
    expect(of({})).toEqual([
      'spec.template.metadata.annotations[container.apparmor.security.beta.kubernetes.io/web]: deprecated since v1.30; use the "appArmorProfile" field instead',
    ])
    expect(of({ securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } })).toEqual([])
  })

  it('is warned of a grace period below zero', () => {
    expect(of({ terminationGracePeriodSeconds: -1 })).toContain(
      'spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1',
    )
  })
})

describe('a pod of the largest size', () => {
  const many = Array.from({ length: 20_000 }, (_, index) => index)

  it('is compared port by port so often and no more', () => {
    const equal = many.map(() => ({ containerPort: 80 }))
    const ofEqual = warningsFor({ containers: [{ ...web, ports: equal }] })
    expect(ofEqual.length).toBeGreaterThan(0)
    expect(ofEqual.length).toBeLessThanOrEqual(pairsMax)
    const distinct = many.map((index) => ({ containerPort: 80, hostPort: 1 + index }))
    expect(warningsFor({ containers: [{ ...web, ports: distinct }] }).length).toBeLessThanOrEqual(pairsMax)
  })

  it('is compared path by path so often and no more', () => {
    const items = many.map((index) => ({ key: 'a', path: `${index}` }))
    expect(warningsFor({ volumes: [{ name: 'v', configMap: { name: 'c', items } }] })).toEqual([])
    const equal = many.map(() => ({ key: 'a', path: 'b' }))
    const told = warningsFor({ volumes: [{ name: 'v', configMap: { name: 'c', items: equal } }] })
    expect(told.length).toBeGreaterThan(300)
    expect(told.length).toBeLessThanOrEqual(pairsMax)
  })

  it('has its addresses and secrets looked up, not looked for', () => {
    const hostAliases = many.map((index) => ({ ip: `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}` }))
    expect(warningsFor({ hostAliases: [...hostAliases, { ip: '10.0.0.7' }] })).toEqual([
      'spec.hostAliases[20000].ip: duplicate ip "10.0.0.7"',
    ])
  })
})

it('who reports a status is warned of addresses that are not written as usual', () => {
  const pod = storedPod({})
  const podIPs = [{ ip: '10.0.0.1' }, { ip: 'FD00::1' }]
  expect(podStatusWarnings({ ...pod, status: { phase: 'Running', podIPs, hostIPs: [{ ip: 'fd00:0::2' }] } })).toEqual([
    'status.podIPs[1].ip: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")',
    'status.hostIPs[0].ip: IPv6 address "fd00:0::2" should be in RFC 5952 canonical format ("fd00::2")',
  ])
  expect(podStatusWarnings({ ...pod, status: undefined })).toEqual([])
})
