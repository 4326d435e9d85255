import { eventsV1 } from '../../events/event-v1.ts'
import { kind } from '../../kind.ts'
import { eventColumns } from './event-columns.ts'
import { type Event, eventSchema } from './event-schema.ts'
import { validateEvent, validateEventUpdate, validateNewEvent } from './event-validation.ts'

/** `v1` events, and the same in `events.k8s.io/v1`. */
export const events = kind<Event>(eventSchema, {
  plural: 'events',
  shortNames: ['ev'],
  // Reporters build names from names of nodes and times; upstream never checked them.
  nameFormat: 'path-segment',
  columns: eventColumns,
  selectableFields: {
    'involvedObject.kind': ({ involvedObject }) => involvedObject.kind ?? '',
    'involvedObject.namespace': ({ involvedObject }) => involvedObject.namespace ?? '',
    'involvedObject.name': ({ involvedObject }) => involvedObject.name ?? '',
    'involvedObject.uid': ({ involvedObject }) => involvedObject.uid ?? '',
    'involvedObject.apiVersion': ({ involvedObject }) => involvedObject.apiVersion ?? '',
    'involvedObject.resourceVersion': ({ involvedObject }) => involvedObject.resourceVersion ?? '',
    'involvedObject.fieldPath': ({ involvedObject }) => involvedObject.fieldPath ?? '',
    reason: ({ reason }) => reason ?? '',
    reportingComponent: ({ reportingComponent }) => reportingComponent ?? '',
    source: ({ source, reportingComponent }) => source?.component || reportingComponent || '',
    type: ({ type }) => type ?? '',
  },
  rules: { createsOnUpdate: true, dependents: 'ignored' },
  finalizers: 'any',
  versions: [eventsV1],
  validate: validateEvent,
  validateCreate: validateNewEvent,
  validateUpdate: validateEventUpdate,
})
