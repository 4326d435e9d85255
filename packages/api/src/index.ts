/** The Kubernetes API as data, and the pure functions over it. */
export * from './apply/index.ts'
export * from './bootstrap-tokens/bootstrap-token.ts'
export { clusterInfo, detachedSignature, isSignedWith, publicKeyHash } from './bootstrap-tokens/cluster-info.ts'
export * from './causes/index.ts'
export * from './compare-text.ts'
export { CronError, type CronSchedule, parseCron } from './cron/cron-schedule.ts'
export { type TimeZone, timeZone, utc } from './cron/time-zone.ts'
export type { JsonSchemaProps } from './custom/json-schema-props.ts'
export { writeCustomSchema } from './custom/write-custom-schema.ts'
export { versionRank } from './discovery/version-rank.ts'
export * from './downward-api.ts'
export * from './duration-text.ts'
export * from './equality.ts'
export {
  exactInteger,
  finiteNumber,
  InfiniteNumberError,
  nearestNumber,
  oddNumber,
  parseExactJson,
  parseFiniteJson,
  writtenNumber,
} from './exact-json.ts'
export * from './field-error.ts'
export * from './field-manager.ts'
export * from './field-path.ts'
export { finderOf, lookedThroughMax } from './finder.ts'
export * from './freeze.ts'
export { goFloat, goNumber, goQuoted, goText, trimRight } from './go-text.ts'
export * from './human-duration.ts'
export { illegalByte } from './illegal-base64.ts'
export { loadStructForms } from './internal-structs/struct-value.ts'
export * from './ip.ts'
export * from './json.ts'
export { mayBeEndpoint } from './kinds/addresses.ts'
export * from './kinds/builtin-kinds.ts'
export { formerVersionNames, withFormerVersions } from './kinds/former-kinds.ts'
export * from './kinds/index.ts'
export { jsonFormOf, ofJsonForm } from './kinds/json-form.ts'
export { protobufMessages } from './kinds/protobuf-messages.ts'
export { kubernetesVersion } from './kubernetes-version.ts'
export * from './meta.ts'
export { newestOf } from './newest-of.ts'
export * from './object-meta-validation.ts'
export * from './own-value.ts'
export { createJsonPatch } from './patch/create-json-patch.ts'
export * from './patch/create-strategic-merge-patch.ts'
export * from './patch/json-patch.ts'
export * from './patch/merge-patch.ts'
export * from './patch/patch-conflicts.ts'
export * from './patch/strategic-merge-patch.ts'
export { Pieces } from './pieces.ts'
export { type HostPort, HostPorts, hostPortsOf } from './placement/host-ports.ts'
export { type NodeMatcher, nodeTermMatcher, requiredNodeMatcher } from './placement/node-matcher.ts'
export { oncePerTemplate } from './placement/once-per-template.ts'
export { type Demanding, podLimits, podRequests } from './placement/pod-resources.ts'
export { addQuantities, quantitiesOf, type ResourceQuantities, wholeAmount } from './placement/resource-quantities.ts'
export { isBeingResized, specOnNode } from './placement/resources-on-node.ts'
export { isTolerated, tolerationOf } from './placement/tolerations.ts'
export { type LogOptions, logQuery, parseLogOptions } from './pod-logs/log-options.ts'
export { listing, type NodeLog, nodeLog } from './pod-logs/node-logs.ts'
export * from './quantity.ts'
export { isTrue } from './query-values.ts'
export * from './quota/scopes.ts'
export * from './quota/usage.ts'
export { aggregatedRules } from './rbac/aggregated-rules.ts'
export { type ResourceAccess, ruleAllowsPath, ruleAllowsResource } from './rbac/rule-matching.ts'
export * from './resource.ts'
export * from './schema/builders.ts'
export * from './schema/checked-order.ts'
export * from './schema/compile.ts'
export type { Decoded, DecodeOptions } from './schema/decode.ts'
export {
  checkValuesCount,
  type FieldValidation,
  type GoTypes,
  objectValuesMax,
  Undecodable,
} from './schema/decode-context.ts'
export { omittedZero } from './schema/go/go-types.ts'
export { withoutNulls } from './schema/go/nulls.ts'
export { jsonReaderOf, parseJsonOf, withNumbersOf } from './schema/go/numbers.ts'
export * from './schema/resolve.ts'
export * from './schema/schema.ts'
export * from './selectors.ts'
export * from './status.ts'
export { attachmentName, managedAttachmentAnnotation, uniqueVolumeName } from './storage/attached-volumes.ts'
export { driverOfProvisioner, driverOfVolume } from './storage/migrated-plugins.ts'
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
export { goTimeFault } from './time-fault.ts'
export { isTokenMount, tokenMountPath, tokenVolumePrefix } from './token-volume.ts'
