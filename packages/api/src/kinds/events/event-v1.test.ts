import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Draft, decoded, problemsOfCreate, problemsOfUpdate } from '../../../test/requests.ts'
import { loadStructForms } from '../../internal-structs/struct-value.ts'
import { compile } from '../../schema/compile.ts'
import { arbitraryOf } from '../../testing/arbitrary.ts'
import { events } from '../core/event/event.ts'
import { type Event, eventSchema } from '../core/event/event-schema.ts'
import { eventsV1 } from './event-v1.ts'

const metadata = { name: 'x', namespace: 'shop' }
const reported = {
  metadata,
  involvedObject: { kind: 'Pod', namespace: 'shop', name: 'web' },
  eventTime: '2026-01-01T00:00:00.000000Z',
  reportingComponent: 'kubernetes.io/kubelet',
  reportingInstance: 'node-1',
  action: 'Starting',
  reason: 'Started',
  type: 'Normal',
}
const newer = 'events.k8s.io/v1'

beforeAll(loadStructForms)

describe('events.k8s.io/v1', () => {
  it('has other names for the same', () => {
    const hub = decoded(events, { ...reported, message: 'it runs', count: 3, source: { component: 'kubelet' } })
    expect(eventsV1.fromHub(hub)).toEqual({
      apiVersion: 'v1',
      kind: 'Event',
      metadata,
      eventTime: reported.eventTime,
      reportingController: 'kubernetes.io/kubelet',
      reportingInstance: 'node-1',
      action: 'Starting',
      reason: 'Started',
      regarding: reported.involvedObject,
      note: 'it runs',
      type: 'Normal',
      deprecatedSource: { component: 'kubelet' },
      deprecatedCount: 3,
    })
  })

  it('loses nothing of any event', () => {
    const { decode, applyDefaults } = compile(eventSchema)
    const complete = (value: unknown): Event => applyDefaults(decode(value).value) as Event
    fc.assert(
      fc.property(arbitraryOf(eventSchema), (value) => {
        const event = complete(value)
        expect(complete(eventsV1.toHub(eventsV1.fromHub(event) as never))).toEqual(event)
      }),
      { numRuns: 100 },
    )
  })

  it.each<readonly [string, Draft, readonly string[]]>([
    ['a complete report', reported, []],
    [
      'nobody as the reporter',
      { ...reported, reportingComponent: '' },
      [
        'reportingController: Required value',
        'reportingController: Invalid value: "": name part must be non-empty',
        expect.stringContaining('reportingController: Invalid value: "": name part must consist of') as never,
      ],
    ],
    [
      'an event in the older way',
      {
        metadata,
        involvedObject: { namespace: 'shop' },
        firstTimestamp: '2026-01-01T00:00:00Z',
        lastTimestamp: '2026-01-01T00:00:00Z',
        count: 1,
        source: { component: 'kubelet' },
      },
      [
        'eventTime: Required value',
        'type: Invalid value: "": has invalid value: ',
        'firstTimestamp: Invalid value: "": needs to be unset',
        'lastTimestamp: Invalid value: "": needs to be unset',
        'count: Invalid value: "": needs to be unset',
        'source: Invalid value: "": needs to be unset',
      ],
    ],
    [
      'a series of one',
      { ...reported, series: { count: 1 } },
      ['series.count: Invalid value: "": should be at least 2', 'series.lastObservedTime: Required value'],
    ],
    [
      'a name that is no subdomain',
      { ...reported, metadata: { name: 'A', namespace: 'shop' } },
      [expect.stringContaining('metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain') as never],
    ],
  ])('is strict about %s', (_, draft, problems) => {
    expect(problemsOfCreate(events, draft, newer)).toEqual(problems)
  })

  it('lets nothing change but the series', () => {
    const series = { count: 2, lastObservedTime: '2026-01-01T00:00:00.000000Z' }
    expect(problemsOfUpdate(events, reported, { ...reported, series }, newer)).toEqual([])
    expect(problemsOfUpdate(events, reported, { ...reported, message: 'b', reportingComponent: 'a' }, newer)).toEqual([
      'message: Invalid value: "b": field is immutable',
      'reportingController: Invalid value: "a": field is immutable',
    ])
    expect(problemsOfUpdate(events, reported, { ...reported, message: 'b' })).toEqual([])
    const involvedObject = { ...reported.involvedObject, fieldPath: 'spec' }
    const others = { ...reported, involvedObject, source: { host: 'node-1' } }
    expect(problemsOfUpdate(events, { ...others, count: 2, message: 'a' }, reported, newer)).toEqual([
      'involvedObject: Invalid value: {"Kind":"Pod","Namespace":"shop","Name":"web","UID":"","APIVersion":"","ResourceVersion":"","FieldPath":""}: field is immutable',
      'message: Invalid value: "": field is immutable',
      'source: Invalid value: {"Component":"","Host":""}: field is immutable',
      'count: Invalid value: 0: field is immutable',
    ])
  })
})
