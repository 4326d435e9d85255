/** The Kubernetes API as data, and the pure functions over it. */
export * from './apply/index.ts'
export * from './causes/index.ts'
export * from './compare-text.ts'
export { CronError, type CronSchedule, parseCron } from './cron/cron-schedule.ts'
export { type TimeZone, timeZone, utc } from './cron/time-zone.ts'
export type { JsonSchemaProps } from './custom/json-schema-props.ts'
export { writeCustomSchema } from './custom/write-custom-schema.ts'
export * from './duration-text.ts'
export * from './equality.ts'
export * from './field-error.ts'
export * from './field-path.ts'
export * from './freeze.ts'
export * from './human-duration.ts'
export * from './ip.ts'
export * from './json.ts'
export * from './kinds/builtin-kinds.ts'
export * from './kinds/index.ts'
export { protobufMessages } from './kinds/protobuf-messages.ts'
export { convertFormerVersion, type FormerVersion } from './legacy/former-versions.ts'
export * from './legacy/v1beta1.ts'
export * from './meta.ts'
export { newestOf } from './newest-of.ts'
export * from './object-meta-validation.ts'
export type { GroupVersionKind, KindSchema } from './openapi/definitions.ts'
export type { OpenApiOptions } from './openapi/document.ts'
export {
  jsonSchemaOfKind,
  jsonSchemaOfKinds,
  mergeOpenApiDefinitions,
  type OpenApiDefinitions,
} from './openapi/json-schema.ts'
export * from './openapi/v2.ts'
export * from './openapi/v3.ts'
export { createJsonPatch } from './patch/create-json-patch.ts'
export * from './patch/create-strategic-merge-patch.ts'
export * from './patch/json-patch.ts'
export * from './patch/merge-patch.ts'
export * from './patch/strategic-merge-patch.ts'
export { type HostPort, hostPortsCollide, hostPortsOf } from './placement/host-ports.ts'
export { type NodeMatcher, nodeTermMatcher, requiredNodeMatcher } from './placement/node-matcher.ts'
export { podLimits, podRequests } from './placement/pod-resources.ts'
export { addQuantities, quantitiesOf, type ResourceQuantities, wholeAmount } from './placement/resource-quantities.ts'
export { isTolerated, toleratesTaint } from './placement/tolerations.ts'
export * from './quantity.ts'
export * from './quota/scopes.ts'
export * from './quota/usage.ts'
export * from './resource.ts'
export * from './schema/builders.ts'
export * from './schema/compile.ts'
export type { Decoded, DecodeOptions } from './schema/decode.ts'
export { checkValuesCount, type FieldValidation, objectValuesMax } from './schema/decode-context.ts'
export * from './schema/resolve.ts'
export * from './schema/schema.ts'
export * from './selectors.ts'
export * from './status.ts'
export { claimNameOf, claimsOfPod, ephemeralClaimName, whyNotMadeFor } from './storage/pod-claims.ts'
export {
  isClaimedBy,
  matchingVolume,
  type VolumeSearch,
  volumeModeOf,
  volumeNodeMatcher,
  whyVolumeMismatches,
} from './storage/volume-binding.ts'
export * from './stored-kind.ts'
export * from './string-formats.ts'
export * from './table.ts'
export * from './time.ts'
