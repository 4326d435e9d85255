/** The numbers of fields in protobuf, see `../protobuf-messages.ts`. */
export const eventsMessages = {
  'io.k8s.api.events.v1': `
Event: metadata eventTime! series reportingController reportingInstance action reason regarding related note type
  deprecatedSource deprecatedFirstTimestamp! deprecatedLastTimestamp! deprecatedCount
EventSeries: count lastObservedTime!
`,
} as const
