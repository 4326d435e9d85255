import { beforeAll, describe, expect, it } from 'vitest'
import { created, decoded, problemsOfCreate, problemsOfStatus, problemsOfUpdate } from '../../../test/requests.ts'
import { compileDeviceSelector, selectorVariables } from '../../devices/index.ts'
import { loadStructForms } from '../../internal-structs/struct-value.ts'
import { deviceClasses } from './device-class.ts'
import { resourceClaims } from './resource-claim.ts'
import { resourceClaimTemplates } from './resource-claim-template.ts'
import { resourceSlices } from './resource-slice.ts'

beforeAll(loadStructForms)

const gpu = { name: 'gpu', exactly: { deviceClassName: 'gpu.example.com' } }
const claimOf = (...requests: readonly object[]) => ({ spec: { devices: { requests } } })
const selecting = (expression: string) => ({
  ...gpu,
  exactly: { ...gpu.exactly, selectors: [{ cel: { expression } }] },
})

describe('a claim', () => {
  it('asks for one device of a class unless it says otherwise', () => {
    const either = [
      { name: 'a', deviceClassName: 'a' },
      { name: 'b', deviceClassName: 'b', allocationMode: 'All' },
    ]
    const claim = decoded(resourceClaims, claimOf(gpu, { name: 'either', firstAvailable: either }))
    expect(claim.spec.devices?.requests).toEqual([
      { name: 'gpu', exactly: { deviceClassName: 'gpu.example.com', allocationMode: 'ExactCount', count: 1 } },
      {
        name: 'either',
        firstAvailable: [
          { name: 'a', deviceClassName: 'a', allocationMode: 'ExactCount', count: 1 },
          { name: 'b', deviceClassName: 'b', allocationMode: 'All' },
        ],
      },
    ])
    expect(decoded(resourceClaims, { spec: {} })).toMatchObject({ spec: { devices: {} }, status: {} })
  })

  it.each([
    [claimOf(gpu), []],
    [
      claimOf({ name: 'gpu' }),
      ['spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required'],
    ],
    [
      claimOf({ ...gpu, firstAvailable: [{ name: 'a', deviceClassName: 'a' }] }),
      [
        'spec.devices.requests[0]: Invalid value: null: exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set',
      ],
    ],
    [claimOf({ name: 'gpu', exactly: {} }), ['spec.devices.requests[0].exactly.deviceClassName: Required value']],
    [
      claimOf({ ...gpu, exactly: { ...gpu.exactly, allocationMode: 'Some' } }),
      [
        'spec.devices.requests[0].exactly.allocationMode: Unsupported value: "Some": supported values: "All", "ExactCount"',
      ],
    ],
    [
      claimOf({ ...gpu, exactly: { ...gpu.exactly, allocationMode: 'All', count: 2 } }),
      ["spec.devices.requests[0].exactly.count: Invalid value: 2: must not be specified when allocationMode is 'All'"],
    ],
    [
      claimOf({ ...gpu, exactly: { ...gpu.exactly, count: -1 } }),
      ['spec.devices.requests[0].exactly.count: Invalid value: -1: must be greater than zero'],
    ],
    [claimOf(gpu, gpu), ['spec.devices.requests[1]: Duplicate value: "gpu"']],
    [
      claimOf(...Array.from({ length: 33 }, (_, index) => ({ ...gpu, name: `gpu-${index}` }))),
      ['spec.devices.requests: Too many: 33: must have at most 32 items'],
    ],
    [
      { spec: { devices: { requests: [gpu], constraints: [{ requests: ['cpu'], matchAttribute: 'numa' }] } } },
      [
        'spec.devices.constraints[0].requests[0]: Invalid value: "cpu": must be the name of a request in the claim or the name of a request and a subrequest separated by \'/\'',
        'spec.devices.constraints[0].matchAttribute: Invalid value: "numa": a fully qualified name must be a domain and a name separated by a slash',
      ],
    ],
    [
      { spec: { devices: { requests: [gpu], constraints: [{}] } } },
      [
        'spec.devices.constraints[0]: Required value: exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set',
      ],
    ],
    [
      { spec: { devices: { requests: [gpu], config: [{}, { opaque: { driver: 'd.example.com' } }] } } },
      ['spec.devices.config[0].opaque: Required value', 'spec.devices.config[1].opaque.parameters: Required value'],
    ],
    [
      { spec: { devices: { requests: [gpu], config: [{ opaque: { driver: 'd.example.com', parameters: 'x' } }] } } },
      ['spec.devices.config[0].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object'],
    ],
    [
      claimOf({ ...gpu, exactly: { ...gpu.exactly, tolerations: [{ operator: 'Exists', value: 'x' }] } }),
      [
        'spec.devices.requests[0].exactly.tolerations[0].value: Invalid value: "x": must be empty for operator `Exists`',
      ],
    ],
  ])('%j', (draft, problems) => {
    expect(problemsOfCreate(resourceClaims, draft)).toEqual(problems)
  })

  it('selects by expressions that must compile, come to a truth value and cost little', () => {
    const at = 'spec.devices.requests[0].exactly.selectors[0].cel.expression'
    const loops = '"x".matches(device.attributes["a"].b) && '.repeat(3)
    expect(problemsOfCreate(resourceClaims, claimOf(selecting('device.driver == "gpu.example.com"')))).toEqual([])
    expect(problemsOfCreate(resourceClaims, claimOf(selecting('device.color == "red"')))).toEqual([
      expect.stringMatching(/^spec\.devices.*Invalid value: .*: compilation failed: ERROR: .*undefined field 'color'/s),
    ])
    expect(problemsOfCreate(resourceClaims, claimOf(selecting('device.driver')))).toEqual([
      `${at}: Invalid value: "device.driver": must evaluate to bool or the unknown type, not string`,
    ])
    const dear =
      'device.attributes.all(a, device.attributes.all(b, device.attributes.all(c, device.attributes.all(d, a == b))))'
    expect(problemsOfCreate(resourceClaims, claimOf(selecting(dear)))).toEqual([
      `${at}: Forbidden: too complex, exceeds cost limit`,
    ])
    expect(problemsOfCreate(resourceClaims, claimOf(selecting(`${loops}true`)))).toEqual([])
    expect(problemsOfCreate(resourceClaims, claimOf(selecting('x'.repeat(10_241))))).toEqual([
      `${at}: Too long: may not be more than 10240 bytes`,
    ])
  })

  it('asks for what it asks for, for good', () => {
    expect(problemsOfUpdate(resourceClaims, claimOf(gpu), claimOf())).toEqual([
      expect.stringMatching(/^spec: Invalid value: .*: field is immutable$/),
    ])
    expect(problemsOfUpdate(resourceClaims, claimOf(gpu), claimOf(gpu))).toEqual([])
  })

  const result = { request: 'gpu', driver: 'd.example.com', pool: 'n1', device: 'gpu-0' }
  const allocation = { devices: { results: [result] } }
  const pod = { resource: 'pods', name: 'p', uid: 'u' }
  const withStatus = (status: object) => ({ ...claimOf(gpu), status })

  it.each([
    [{}, { allocation, reservedFor: [pod] }, []],
    [
      {},
      { reservedFor: [pod, pod] },
      [
        'status.reservedFor[1]: Duplicate value: "u"',
        'status.reservedFor: Forbidden: may not be specified when `allocated` is not set',
      ],
    ],
    [
      { allocation },
      { allocation: { devices: { results: [{ ...result, device: 'gpu-1' }] } } },
      [expect.stringMatching(/^status\.allocation: Invalid value: .*: field is immutable$/)],
    ],
    [{ allocation }, {}, []],
    [
      {},
      { allocation: { devices: { results: [{ ...result, request: 'x' }] } } },
      [
        expect.stringMatching(
          /^status\.allocation\.devices\.results\[0\]\.request: Invalid value: "x": must be the name/,
        ),
      ],
    ],
    [
      { allocation },
      { allocation, devices: [{ driver: 'd.example.com', pool: 'n1', device: 'other' }] },
      [
        'status.devices[0]: Invalid value: {"Driver":"d.example.com","Pool":"n1","Device":"other","ShareID":""}: must be an allocated device in the claim',
      ],
    ],
    [
      { allocation },
      {
        allocation,
        devices: [
          { driver: 'd.example.com', pool: 'n1', device: 'gpu-0' },
          { driver: 'd.example.com', pool: 'n1', device: 'gpu-0' },
        ],
      },
      ['status.devices[1]: Duplicate value: {"Driver":"d.example.com","Pool":"n1","Device":"gpu-0","ShareID":""}'],
    ],
    [
      { allocation },
      {
        allocation,
        devices: [
          {
            driver: 'd.example.com',
            pool: 'n1',
            device: 'gpu-0',
            networkData: { ips: ['10.0.0.1', '10.0.0.1/24', '2001:DB8::1/64'] },
          },
        ],
      },
      [
        'status.devices[0].networkData.ips[0]: Invalid value: "10.0.0.1": must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)',
        'status.devices[0].networkData.ips[2]: Invalid value: "2001:DB8::1/64": must be in canonical form ("2001:db8::1/64")',
      ],
    ],
  ])('has a status that makes sense: %j, then %j', (before, after, problems) => {
    expect(problemsOfStatus(resourceClaims, withStatus(after), withStatus(before))).toEqual(problems)
  })

  it('loses what drivers said of devices together with the devices', () => {
    const devices = [{ driver: 'd.example.com', pool: 'n1', device: 'gpu-0', conditions: [] }]
    const [before, after] = [{ allocation, devices }, { devices }].map((status) =>
      decoded(resourceClaims, withStatus(status)),
    )
    if (before === undefined || after === undefined) throw new Error('unreachable')
    expect(resourceClaims.strategy.prepareForStatusUpdate?.(after, before, 0).status).toEqual({})
    expect(resourceClaims.strategy.prepareForStatusUpdate?.(before, before, 0)).toBe(before)
  })
})

describe('a template of claims', () => {
  it('gives labels and annotations, and is checked as the claim is', () => {
    const spec = { metadata: { name: 'x', labels: { a: 'b' } }, spec: claimOf({ name: 'gpu' }).spec }
    expect(problemsOfCreate(resourceClaimTemplates, { spec })).toEqual([
      'spec.metadata.name: Forbidden: cannot be set',
      'spec.spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required',
    ])
    const good = { spec: { spec: claimOf(gpu).spec } }
    expect(decoded(resourceClaimTemplates, good).spec.spec.devices?.requests?.[0]?.exactly).toMatchObject({ count: 1 })
    expect(problemsOfUpdate(resourceClaimTemplates, good, { spec: { spec: {} } })).toEqual([
      expect.stringMatching(/^spec: Invalid value: .*field is immutable$/),
    ])
  })
})

describe('a class of devices', () => {
  it('has selectors, parameters and the name of a resource', () => {
    const spec = {
      selectors: [
        {},
        { cel: { expression: 'device.driver ==' } },
        { cel: { expression: "device.driver in ['a', 1]" } },
        { cel: { expression: "int(string('x')) == 1" } },
      ],
      config: [{ opaque: { driver: 'd.example.com', parameters: { a: 1 } } }],
      extendedResourceName: 'gpu',
    }
    expect(problemsOfCreate(deviceClasses, { spec })).toEqual([
      'spec.selectors[0].cel: Required value',
      expect.stringContaining(
        'spec.selectors[1].cel.expression: Invalid value: "device.driver ==": compilation failed',
      ),
      expect.stringContaining("compilation failed: ERROR: <input>:1:24: expected type 'string' but found 'int'"),
      "spec.selectors[3].cel.expression: Internal error: program instantiation failed: type conversion error from 'string' to 'int'",
      'spec.extendedResourceName: Invalid value: "gpu": must be a valid extended resource name',
    ])
    expect(problemsOfCreate(deviceClasses, { spec: { extendedResourceName: 'example.com/gpu' } })).toEqual([])
  })

  it('may change, and what stays is not judged anew', () => {
    const broken = { spec: { selectors: [{ cel: { expression: 'no longer valid' } }] } }
    const named = { spec: { ...broken.spec, extendedResourceName: 'example.com/gpu' } }
    expect(problemsOfUpdate(deviceClasses, broken, named)).toEqual([])
    expect(problemsOfUpdate(deviceClasses, { spec: {} }, broken)).toHaveLength(1)
  })
})

describe('a slice of devices', () => {
  const pool = { name: 'n1', generation: 1, resourceSliceCount: 1 }
  const base = { driver: 'd.example.com', pool, nodeName: 'n1' }
  const withDevices = (...devices: readonly object[]) => ({ spec: { ...base, devices } })

  it.each([
    [{ spec: base }, []],
    [
      { spec: { driver: 'd.example.com', pool: { name: 'a//b' } } },
      [
        expect.stringContaining('spec.pool.name: Invalid value: ""'),
        'spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero',
        'spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required',
      ],
    ],
    [
      { spec: { ...base, allNodes: true } },
      [
        'spec: Invalid value: "{`nodeName`, `allNodes`}": exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, but multiple fields are set',
      ],
    ],
    [
      { spec: { ...base, devices: [{ name: 'a' }], sharedCounters: [{ name: 'c', counters: { m: { value: '1' } } }] } },
      ['spec: Invalid value: "": only one of `sharedCounters` or `devices` is allowed'],
    ],
    [withDevices({ name: 'a' }, { name: 'a' }), ['spec.devices[1]: Duplicate value: "a"']],
    [
      withDevices(...Array.from({ length: 129 }, (_, index) => ({ name: `d${index}` }))),
      ['spec.devices: Too many: 129: must have at most 128 items'],
    ],
    [
      withDevices(
        ...Array.from({ length: 65 }, (_, index) => ({ name: `d${index}`, taints: [{ key: 'a', effect: 'None' }] })),
      ),
      ['spec.devices: Too many: 65: must have at most 64 items'],
    ],
    [
      withDevices({
        name: 'a',
        attributes: { '1x': { int: 1 }, both: { int: 1, bool: true }, none: {}, v: { version: '1' } },
      }),
      [
        expect.stringContaining('spec.devices[0].attributes: Invalid value: "1x": a valid C identifier'),
        expect.stringMatching(
          /^spec\.devices\[0\]\.attributes\[both\]: Invalid value: .*: exactly one value must be specified$/,
        ),
        'spec.devices[0].attributes[none]: Invalid value: "": exactly one value must be specified',
        'spec.devices[0].attributes[v].version: Invalid value: "1": must be a string compatible with semver.org spec 2.0.0',
      ],
    ],
    [
      withDevices({ name: 'a', taints: [{ key: 'k', effect: 'PreferNoSchedule' }] }),
      [
        'spec.devices[0].taints[0].effect: Unsupported value: "PreferNoSchedule": supported values: "NoExecute", "NoSchedule", "None"',
      ],
    ],
    [
      withDevices({ name: 'a', nodeName: 'n1' }),
      [
        'spec.devices[0]: Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec',
      ],
    ],
    [
      { spec: { driver: 'd.example.com', pool, perDeviceNodeSelection: true, devices: [{ name: 'a' }] } },
      [
        'spec.devices[0]: Required value: exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec',
      ],
    ],
    [
      withDevices({ name: 'a', bindingConditions: ['Attached'] }),
      [
        'spec.devices[0].bindingFailureConditions: Invalid value: null: bindingFailureConditions are required to use bindingConditions',
      ],
    ],
    [
      withDevices({ name: 'a', capacity: { memory: { value: '1Gi', requestPolicy: { default: '1Mi' } } } }),
      ['spec.devices[0].capacity[memory].requestPolicy: Forbidden: allowMultipleAllocations must be true'],
    ],
    [
      withDevices({
        name: 'a',
        allowMultipleAllocations: true,
        capacity: {
          memory: { value: '10', requestPolicy: { default: '3', validRange: { min: '1', max: '12', step: '4' } } },
          cores: { value: '4', requestPolicy: { default: '3', validValues: ['2', '1', '8'] } },
        },
      }),
      [
        'spec.devices[0].capacity[memory].requestPolicy.validRange.max: Invalid value: "12": max is larger than capacity value: 10',
        'spec.devices[0].capacity[memory].requestPolicy.validRange.step: Invalid value: "3": value is not a multiple of a given step (4) from (1)',
        'spec.devices[0].capacity[memory].requestPolicy.validRange.step: Invalid value: "12": value is not a multiple of a given step (4) from (1)',
        'spec.devices[0].capacity[cores].requestPolicy.validValues[1]: Invalid value: "1": values must be sorted in ascending order',
        'spec.devices[0].capacity[cores].requestPolicy.validValues[2]: Invalid value: "8": option is larger than capacity value: 4',
        'spec.devices[0].capacity[cores].requestPolicy.validValues: Invalid value: "3": default value is not valid according to the requestPolicy',
      ],
    ],
  ])('%j', (draft, problems) => {
    expect(problemsOfCreate(resourceSlices, draft)).toEqual(problems)
  })

  it('stays of its driver, its pool and its node', () => {
    const other = { driver: 'e.example.com', pool: { ...pool, name: 'n2' }, nodeName: 'n2' }
    expect(problemsOfUpdate(resourceSlices, { spec: base }, { spec: other })).toEqual([
      'spec.pool.name: Invalid value: "n2": field is immutable',
      'spec.driver: Invalid value: "e.example.com": field is immutable',
      'spec.nodeName: Invalid value: "n2": field is immutable',
    ])
  })

  it('notes when a taint came, and keeps nothing of features that are off', () => {
    const taint = { key: 'k', effect: 'NoSchedule' }
    const slice = created(
      resourceSlices,
      withDevices({
        name: 'a',
        taints: [taint],
        attributes: { many: { strings: ['a'] } },
        nodeAllocatableResourceMappings: { cpu: {} },
      }),
    )
    const tainted = { name: 'a', taints: [{ ...taint, timeAdded: '1970-01-01T00:00:00Z' }], attributes: { many: {} } }
    expect(slice.spec.devices).toEqual([tainted])
    const again = decoded(resourceSlices, withDevices({ name: 'a', taints: [taint, { key: 'l', effect: 'None' }] }))
    const updated = resourceSlices.strategy.prepareForUpdate?.(again, slice, 60_000)
    expect(updated?.spec.devices?.[0]?.taints?.map(({ timeAdded }) => timeAdded)).toEqual([
      '1970-01-01T00:00:00Z',
      '1970-01-01T00:01:00Z',
    ])
  })
})

describe('a selector', () => {
  const device = {
    name: 'a',
    attributes: { model: { string: 'A100' }, 'other.example.com/numa': { int: 1 }, v: { version: '1.10.0' } },
    capacity: { memory: { value: '40Gi' } },
  }
  const variables = selectorVariables('d.example.com', device)
  const asked = (expression: string) => {
    const compiled = compileDeviceSelector(expression)
    return 'problem' in compiled ? compiled : compiled.selector.matches(variables)
  }

  it.each([
    ['device.driver == "d.example.com"', { matches: true }],
    ['device.attributes["d.example.com"].model == "A100"', { matches: true }],
    ['device.attributes["other.example.com"].numa > 0', { matches: true }],
    ['device.attributes["d.example.com"].v.isGreaterThan(semver("1.9.0"))', { matches: true }],
    ['device.capacity["d.example.com"].memory.compareTo(quantity("80Gi")) >= 0', { matches: false }],
    ['cel.bind(d, device.attributes["d.example.com"], d.model == "A100" && has(d.v))', { matches: true }],
    ['device.allowMultipleAllocations', { matches: false }],
    ['has(device.attributes["nobody.example.com"].model)', { matches: false }],
    ['"nobody.example.com" in device.attributes', { matches: false }],
    ['device.attributes["d.example.com"].missing == 1', { error: 'no such key: missing' }],
  ])('%s', (expression, outcome) => {
    expect(asked(expression)).toEqual(outcome)
  })
})

describe('a share of a device', () => {
  const share = '0f8fad5b-d9cb-469f-a165-70867728950e'
  const claim = (shareID: string, device: object) => {
    const result = { request: 'gpu', driver: 'd.example.com', pool: 'p', device: 'x', shareID }
    return { ...claimOf(gpu), status: { allocation: { devices: { results: [result] } }, devices: [device] } }
  }
  const problems = (shareID: string, device: object) =>
    problemsOfStatus(resourceClaims, claim(shareID, device), { ...claimOf(gpu) })

  it('is another thing than a device of its name in a pool of a longer name', () => {
    expect(problems(share, { driver: 'd.example.com', pool: 'p', device: 'x', shareID: share })).toEqual([])
    expect(problems(share, { driver: 'd.example.com', pool: 'p/x', device: share })).toEqual([
      `status.devices[0]: Invalid value: {"Driver":"d.example.com","Pool":"p/x","Device":"${share}","ShareID":""}: must be an allocated device in the claim`,
    ])
  })

  it.each([
    ['a', 'error validating uid: invalid UUID length: 1'],
    [share.replace('0f', '0g'), 'error validating uid: invalid UUID format'],
    [`(${share})`, 'error validating uid: invalid bracketed UUID format'],
    [`urn:what:${share}`, 'error validating uid: invalid urn prefix: "urn:what:"'],
    [
      share.toUpperCase(),
      'uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters',
    ],
    [
      `{${share}}`,
      'uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters',
    ],
  ])('is not called %s', (shareID, why) => {
    const device = { driver: 'd.example.com', pool: 'p', device: 'x', shareID }
    expect(problems(shareID, device)).toContain(`status.devices[0].shareID: Invalid value: "${shareID}": ${why}`)
  })
})
