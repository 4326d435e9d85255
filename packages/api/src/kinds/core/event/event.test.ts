import { beforeAll, describe, expect, it } from 'vitest'
import { columnNames, type Draft, decoded, problemsOfCreate, row } from '../../../../test/requests.ts'
import { loadStructForms } from '../../../internal-structs/struct-value.ts'
import { parseTime } from '../../../time.ts'
import { events } from './event.ts'

beforeAll(loadStructForms)

const inShop = { name: 'x', namespace: 'shop' }
const reported = {
  metadata: inShop,
  involvedObject: { kind: 'Pod', namespace: 'shop', name: 'web' },
  eventTime: '2026-01-01T00:00:00.000000Z',
  reportingComponent: 'kubernetes.io/kubelet',
  reportingInstance: 'node-1',
  action: 'Starting',
  reason: 'Started',
}
const elsewhere = (namespace: string): string =>
  `involvedObject.namespace: Invalid value: "${namespace}": does not match event.namespace`

describe('validation of an event', () => {
  it.each<readonly [string, Draft, readonly string[]]>([
    ['one beside its object', { metadata: inShop, involvedObject: { namespace: 'shop' } }, []],
    ['one in another namespace', { metadata: inShop, involvedObject: { namespace: 'x' } }, [elsewhere('x')]],
    ['one about a cluster-scoped object', { metadata: { name: 'x', namespace: 'default' }, involvedObject: {} }, []],
    ['one about nothing', { metadata: inShop }, [elsewhere('')]],
    ['a complete report', reported, []],
    [
      'a report by nobody',
      { ...reported, reportingComponent: '', reportingInstance: '', action: '', reason: '' },
      [
        'reportingComponent: Required value',
        'reportingComponent: Invalid value: "": name part must be non-empty',
        "reportingComponent: Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        'reportingInstance: Required value',
        'action: Required value',
        'reason: Required value',
      ],
    ],
    [
      'a long report',
      { ...reported, reason: 'r'.repeat(129), message: 'm'.repeat(1025) },
      [
        'reason: Invalid value: "": can have at most 128 characters',
        'message: Invalid value: "": can have at most 1024 characters',
      ],
    ],
  ])('says of %s', (_, draft, problems) => {
    expect(problemsOfCreate(events, draft)).toEqual(problems)
  })
})

describe('table of events', () => {
  const nowMs = parseTime('2026-01-01T01:00:00Z')
  const base = {
    metadata: inShop,
    involvedObject: { kind: 'Pod', name: 'web', fieldPath: 'spec.containers{web}' },
    type: 'Warning',
    reason: 'BackOff',
    message: ' Back-off restarting\n',
    source: { component: 'kubelet', host: 'node-1' },
    firstTimestamp: '2026-01-01T00:00:00Z',
    lastTimestamp: '2026-01-01T00:59:00Z',
    count: 7,
  }

  it('has the columns of kubectl get', () => {
    expect(columnNames(events)).toEqual({
      shown: ['Last Seen', 'Type', 'Reason', 'Object', 'Message'],
      wide: ['Subobject', 'Source', 'First Seen', 'Count', 'Name'],
    })
  })

  it('shows an event', () => {
    expect(row(events, base, nowMs)).toEqual({
      'Last Seen': '60s',
      Type: 'Warning',
      Reason: 'BackOff',
      Object: 'pod/web',
      Subobject: 'spec.containers{web}',
      Source: 'kubelet, node-1',
      Message: 'Back-off restarting',
      'First Seen': '60m',
      Count: 7,
      Name: 'x',
    })
  })

  it('shows an event in the newer way, once', () => {
    expect(row(events, reported, nowMs)).toMatchObject({
      'Last Seen': '60m',
      'First Seen': '60m',
      Count: 1,
      Source: 'kubernetes.io/kubelet, node-1',
    })
  })

  it('shows where a series stands', () => {
    const series = { count: 3, lastObservedTime: '2026-01-01T00:59:30.000000Z' }
    expect(row(events, { ...reported, series }, nowMs)).toMatchObject({ 'Last Seen': '30s', Count: 3 })
  })
})

it.each([
  ['involvedObject.kind', 'Pod'],
  ['involvedObject.name', 'web'],
  ['involvedObject.namespace', 'shop'],
  ['involvedObject.uid', ''],
  ['reason', 'Started'],
  ['source', 'kubernetes.io/kubelet'],
  ['reportingComponent', 'kubernetes.io/kubelet'],
  ['type', ''],
])('can be filtered by %s', (field, value) => {
  expect(events.selectableFields[field]?.(decoded(events, reported))).toBe(value)
})
