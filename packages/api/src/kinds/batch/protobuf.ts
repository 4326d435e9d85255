/** The numbers of fields in protobuf, see `../protobuf-messages.ts`. */
export const batchMessages = {
  'io.k8s.api.batch.v1beta1': `
CronJob: metadata spec status
`,
  'io.k8s.api.batch.v1': `
CronJob: metadata spec status
CronJobSpec: schedule startingDeadlineSeconds concurrencyPolicy suspend jobTemplate successfulJobsHistoryLimit
  failedJobsHistoryLimit timeZone
CronJobStatus: active 4:lastScheduleTime lastSuccessfulTime
Job: metadata spec status
JobCondition: type status lastProbeTime! lastTransitionTime! reason message
JobSpec: parallelism completions activeDeadlineSeconds selector manualSelector template backoffLimit
  ttlSecondsAfterFinished completionMode suspend podFailurePolicy backoffLimitPerIndex maxFailedIndexes
  podReplacementPolicy managedBy successPolicy
JobStatus: conditions startTime completionTime active succeeded failed completedIndexes uncountedTerminatedPods ready
  failedIndexes terminating
JobTemplateSpec: metadata spec
PodFailurePolicy: rules
PodFailurePolicyOnExitCodesRequirement: containerName operator values
PodFailurePolicyOnPodConditionsPattern: type status
PodFailurePolicyRule: action onExitCodes onPodConditions
SuccessPolicy: rules
SuccessPolicyRule: succeededIndexes succeededCount
UncountedTerminatedPods: succeeded failed
`,
} as const
