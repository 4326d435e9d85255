import { beforeAll, describe, expect, it } from 'vitest'
import { describeFieldError } from '../../../field-error.ts'
import { loadStructForms } from '../../../internal-structs/struct-value.ts'
import { storedPod, withStatus } from './pod-fixtures.ts'
import type { ContainerStatus, PodStatus } from './pod-status.ts'
import { validatePodStatusUpdate } from './pod-status-validation.ts'

beforeAll(loadStructForms)

const web = { name: 'web', image: 'nginx:1.27' }

describe('an update of the status', () => {
  const errors = (policy: string, old: PodStatus, status: PodStatus, spec = {}) => {
    const pod = storedPod({ restartPolicy: policy, ...spec })
    return validatePodStatusUpdate(withStatus(pod, status), withStatus(pod, old)).map(describeFieldError)
  }
  const base = { name: 'web', ready: false, restartCount: 0, image: 'a', imageID: '' }
  const ended = (exitCode: number): readonly ContainerStatus[] => [{ ...base, state: { terminated: { exitCode } } }]
  const running: readonly ContainerStatus[] = [{ ...base, state: { running: {} } }]
  const rule = (action: string, code: number) => ({ action, exitCodes: { operator: 'In', values: [code] } })
  const revived = (list: string) =>
    `status.${list}[0].state: Forbidden: may not be transitioned to non-terminated state`

  it.each([
    ['Always', 0, []],
    ['OnFailure', 1, []],
    ['OnFailure', 0, [revived('containerStatuses')]],
    ['Never', 1, [revived('containerStatuses')]],
  ])('with restart policy %s lets a container that exited with %i run again: %j', (policy, exitCode, expected) => {
    expect(errors(policy, { containerStatuses: ended(exitCode) }, { containerStatuses: running })).toEqual(expected)
  })

  it.each([
    ['Never', { restartPolicy: 'Always' }, []],
    ['Always', { restartPolicy: 'Never' }, [revived('containerStatuses')]],
    ['Never', { restartPolicy: 'Never', restartPolicyRules: [rule('Restart', 1)] }, []],
    ['Never', { restartPolicy: 'Never', restartPolicyRules: [rule('Restart', 2)] }, [revived('containerStatuses')]],
    ['Never', { restartPolicy: 'Never', restartPolicyRules: [rule('RestartAllContainers', 2)] }, []],
  ])('asks a container before its pod, whose policy is %s: %j', (policy, own, expected) => {
    const spec = { containers: [{ ...web, ...own }] }
    expect(errors(policy, { containerStatuses: ended(1) }, { containerStatuses: running }, spec)).toEqual(expected)
  })

  it('lets all containers run again where one may restart them all, but for ephemeral ones', () => {
    const starter = {
      ...web,
      name: 's',
      restartPolicy: 'Always',
      restartPolicyRules: [rule('RestartAllContainers', 2)],
    }
    const old = {
      containerStatuses: ended(0),
      initContainerStatuses: ended(0),
      ephemeralContainerStatuses: ended(0),
    }
    const status = { containerStatuses: running, initContainerStatuses: running, ephemeralContainerStatuses: running }
    expect(errors('Never', old, status, { initContainers: [web, starter] })).toEqual([
      revived('ephemeralContainerStatuses'),
    ])
  })

  it('lets no container run again that the pod does not name', () => {
    const others = (statuses: readonly ContainerStatus[]) => statuses.map((each) => ({ ...each, name: 'other' }))
    const old = { containerStatuses: others(ended(1)), initContainerStatuses: others(ended(1)) }
    const status = { containerStatuses: others(running), initContainerStatuses: others(running) }
    expect(errors('Always', old, status)).toEqual([revived('containerStatuses'), revived('initContainerStatuses')])
  })

  it('lets sidecars run again, and ephemeral containers never', () => {
    const spec = { initContainers: [{ ...web, name: 'proxy', restartPolicy: 'Always' }] }
    const named = (statuses: readonly ContainerStatus[]) => statuses.map((each) => ({ ...each, name: 'proxy' }))
    const old = { initContainerStatuses: named(ended(0)), ephemeralContainerStatuses: ended(0) }
    const status = { initContainerStatuses: named(running), ephemeralContainerStatuses: running }
    expect(errors('Never', old, status, spec)).toEqual([revived('ephemeralContainerStatuses')])
  })

  it('wants one address of each family', () => {
    const podIPs = [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }]
    expect(errors('Always', {}, { podIPs })).toEqual([
      'status.podIPs: Invalid value: [{"IP":"10.0.0.1"},{"IP":"10.0.0.2"}]: may specify no more than one IP for each IP family',
    ])
    expect(errors('Always', {}, { podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }] })).toEqual([])
    expect(errors('Always', {}, { hostIP: '10.0.0.2', hostIPs: [{ ip: '10.0.0.1' }] })).toEqual([
      'status.hostIPs[0].ip: Invalid value: "10.0.0.1": must be equal to `hostIP`',
    ])
  })

  const both = 'may specify no more than one IP for each IP family'
  it.each<[readonly string[], readonly string[], readonly string[]]>([
    [['010.0.0.1'], ['010.0.0.1'], []],
    [[], ['010.0.0.1'], ['[0]: Invalid value: "010.0.0.1": must not have leading 0s']],
    [[], ['::ffff:10.0.0.1'], ['[0]: Invalid value: "::ffff:10.0.0.1": must not be an IPv4-mapped IPv6 address']],
    [['10.0.0.1'], ['10.0.0.1', '10.0.0.1'], [`: Invalid value: [{"IP":"10.0.0.1"},{"IP":"10.0.0.1"}]: ${both}`]],
    [
      ['x'],
      ['10.0.0.1', 'x'],
      [
        ': Internal error: failed to check for dual stack with error:invalid IP[1]: x',
        `: Invalid value: [{"IP":"10.0.0.1"},{"IP":"x"}]: ${both}`,
      ],
    ],
  ])('keeps addresses that were there, here %j, and checks new ones: %j', (before, after, expected) => {
    const addresses = (ips: readonly string[]) => ({ podIPs: ips.map((ip) => ({ ip })) })
    expect(errors('Always', addresses(before), addresses(after))).toEqual(
      expected.map((each) => `status.podIPs${each}`),
    )
  })

  it('nominates nodes for pods that have none', () => {
    expect(errors('Always', {}, { nominatedNodeName: 'a' })).toEqual([])
    expect(errors('Always', { nominatedNodeName: 'a' }, { nominatedNodeName: 'a' }, { nodeName: 'b' })).toEqual([])
    expect(errors('Always', {}, { nominatedNodeName: 'a' }, { nodeName: 'b' })).toEqual([
      'status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node',
    ])
  })

  const spec = {
    resourceClaims: [{ name: 'gpu', resourceClaimName: 'mine' }],
    containers: [
      { ...web, resources: { requests: { 'vendor.example/gpu': '1' }, claims: [{ name: 'gpu', request: 'r' }] } },
    ],
  }
  const mapping = { containerName: 'web', resourceName: 'vendor.example/gpu', requestName: 'r' }
  const health = (name: string, ...resources: readonly object[]) => ({
    containerStatuses: [{ ...base, allocatedResourcesStatus: [{ name, resources }] }],
  })
  it.each<[object, readonly string[]]>([
    [{ observedGeneration: -1 }, ['observedGeneration: Invalid value: -1: must be a non-negative integer']],
    [
      { conditions: [{ type: 'Ready', status: 'True', observedGeneration: -1 }] },
      ['conditions[0].observedGeneration: Invalid value: -1: must be a non-negative integer'],
    ],
    [
      { conditions: [{ type: 'not ok', status: 'True' }] },
      [expect.stringMatching(/^conditions\[0\].Type: Invalid value: "not ok": name part must consist/)],
    ],
    [{ qosClass: 'Guaranteed' }, ['qosClass: Invalid value: "Guaranteed": field is immutable']],
    [{ resourceClaimStatuses: [{ name: 'gpu', resourceClaimName: 'made' }] }, []],
    [
      { resourceClaimStatuses: [{ name: 'x' }, { name: 'x', resourceClaimName: '-' }] },
      [
        'resourceClaimStatuses[0].name: Invalid value: "x": must match the name of an entry in `spec.resourceClaims`',
        'resourceClaimStatuses[1].name: Invalid value: "x": must match the name of an entry in `spec.resourceClaims`',
        'resourceClaimStatuses[1].name: Duplicate value: "x"',
        expect.stringMatching(/^resourceClaimStatuses\[1\].resourceClaimName: Invalid value: "-": a lowercase/),
      ],
    ],
    [{ extendedResourceClaimStatus: { resourceClaimName: 'c', requestMappings: [mapping] } }, []],
    [
      { extendedResourceClaimStatus: {} },
      [
        'extendedResourceClaimStatus.requestMappings: Required value: at least one request mapping is required',
        'extendedResourceClaimStatus.resourceClaimName: Required value',
      ],
    ],
    [
      {
        extendedResourceClaimStatus: {
          resourceClaimName: 'c',
          requestMappings: [{ ...mapping, containerName: 'x' }, { ...mapping, resourceName: 'cpu' }, mapping, mapping],
        },
      },
      [
        'extendedResourceClaimStatus.requestMappings[0].containerName: Invalid value: "x": must match the name of an entry in spec.initContainers.name or spec.containers.name',
        'extendedResourceClaimStatus.requestMappings[1].resourceName: Invalid value: "cpu": must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests',
        'extendedResourceClaimStatus.requestMappings[3].containerName: Duplicate value: "web"',
        'extendedResourceClaimStatus.requestMappings[3].resourceName: Duplicate value: "vendor.example/gpu"',
        'extendedResourceClaimStatus.requestMappings[3].requestName: Duplicate value: "r"',
      ],
    ],
    [
      {
        nodeAllocatableResourceClaimStatuses: [
          { resourceClaimName: 'mine', containers: ['web'], resources: { cpu: '1' } },
        ],
      },
      [],
    ],
    [
      { nodeAllocatableResourceClaimStatuses: [{ resourceClaimName: 'x', resources: { 'a.b/c': '-1' } }, {}] },
      [
        '[0].resourceClaimName: Invalid value: "x": no mapping found in pod reference',
        '[0].containers: Required value: must not be empty',
        '[0].resources[a.b/c]: Invalid value: "a.b/c": must be a node allocatable resource name',
        '[0].resources[a.b/c]: Invalid value: "-1": must be non-negative',
        '[1].resourceClaimName: Required value: must not be empty',
        '[1].resourceClaimName: Invalid value: "": no mapping found in pod reference',
        '[1].containers: Required value: must not be empty',
        '[1].resources: Required value: must not be empty',
      ].map((each) => `nodeAllocatableResourceClaimStatuses${each}`),
    ],
    [
      { containerStatuses: [{ ...base, user: { linux: { uid: -1, gid: 1, supplementalGroups: [-2] } } }] },
      [
        'containerStatuses[0].user.linux.uid: Invalid value: -1: must be between 0 and 2147483647, inclusive',
        'containerStatuses[0].user.linux.supplementalGroups[0]: Invalid value: -2: must be between 0 and 2147483647, inclusive',
      ],
    ],
    [health('claim:gpu/r', { resourceID: 'a', health: 'Healthy' }), []],
    [
      health('cpu', { resourceID: 'a', health: 'Fine', message: '' }, { resourceID: 'a', health: 'Unknown' }),
      [
        '.name: Invalid value: "cpu": must match one of the container\'s resource requests',
        '.resources[0].health: Unsupported value: "Fine": supported values: "Healthy", "Unhealthy", "Unknown"',
        '.resources[0].message: Required value: must be non-empty if specified',
        '.resources[1].resourceID: Duplicate value: "a"',
      ].map((each) => `containerStatuses[0].allocatedResourcesStatus[0]${each}`),
    ],
    [
      health('claim:gpu', { resourceID: 'a', health: 'Healthy', message: 'x'.repeat(1025) }),
      [
        ".name: Invalid value: \"claim:gpu\": must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty",
        '.resources[0].message: Too long: may not be more than 1024 bytes',
      ].map((each) => `containerStatuses[0].allocatedResourcesStatus[0]${each}`),
    ],
    [
      { ephemeralContainerStatuses: [{ ...base, allocatedResourcesStatus: [{ name: 'cpu' }] }] },
      ['ephemeralContainerStatuses[0].allocatedResourcesStatus: Forbidden: must not be specified in container status'],
    ],
    [{ ephemeralContainerStatuses: [{ ...base, allocatedResourcesStatus: [] }] }, []],
  ])('says what is wrong with %j', (status, expected) => {
    const found = errors('Always', {}, status as PodStatus, spec)
    expect(found.map((each) => each.replace(/^status\./, ''))).toEqual(expected)
  })

  it('knows of no users of Linux on Windows', () => {
    const containerStatuses = [{ ...base, user: { linux: { uid: 1, gid: 1 } } }]
    expect(errors('Always', {}, { containerStatuses }, { os: { name: 'windows' } })).toEqual([
      'status.containerStatuses[0].user.linux: Forbidden: cannot be set for a windows pod',
    ])
  })
})
