import { kindSchema, objectMeta } from '../../../meta.ts'
import {
  atomicList,
  boolean,
  defaulted,
  exactInt64,
  int32,
  literal,
  object,
  optional,
  pointer,
  required,
  setList,
  string,
  time,
} from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { emptyTemplate, podTemplateSpec } from '../../core/pod/pod-template.ts'
import { conditionOf } from '../../meta/condition.ts'
import { labelSelector } from '../../meta/label-selector.ts'
import { batchV1 } from '../../meta/names.ts'

export interface PodFailurePolicyOnExitCodesRequirement extends Infer<typeof onExitCodesRequirement> {}
const onExitCodesRequirement = object(
  `${batchV1}.PodFailurePolicyOnExitCodesRequirement`,
  'Whether a container ended with certain exit codes.',
  {
    containerName: pointer(string(), 'The container that is meant; any unless set.'),
    operator: required(string(), 'In, or NotIn, which means a failure with another code.', { default: '' }),
    values: required(setList(int32(), { duplicates: 'allowed' }), 'Exit codes in ascending order. At most 255.', {
      default: [],
    }),
  },
)

export interface PodFailurePolicyOnPodConditionsPattern extends Infer<typeof onPodConditionsPattern> {}
const onPodConditionsPattern = object(`${batchV1}.PodFailurePolicyOnPodConditionsPattern`, 'A condition of the pod.', {
  type: required(string(), 'Type of the condition, such as DisruptionTarget.', { default: '' }),
  status: optional(string(), 'Status of the condition; True unless set.', { default: 'True' }),
})

export interface PodFailurePolicyRule extends Infer<typeof podFailurePolicyRule> {}
export const podFailurePolicyRule = object(
  `${batchV1}.PodFailurePolicyRule`,
  'What follows from the failure of a pod, if the rule applies to it.',
  {
    action: required(
      string(),
      'FailJob: the Job fails. FailIndex: the index fails. Ignore: the pod is replaced and not counted. Count: it is counted, as if there were no rule.',
      { default: '' },
    ),
    onExitCodes: optional(onExitCodesRequirement, 'The exit codes to which the rule applies.'),
    onPodConditions: optional(
      atomicList(onPodConditionsPattern),
      'The conditions of the pod, of which one must be there for the rule to apply.',
    ),
  },
)

export interface PodFailurePolicy extends Infer<typeof podFailurePolicy> {}
export const podFailurePolicy = object(`${batchV1}.PodFailurePolicy`, 'What follows from failures of pods.', {
  rules: required(atomicList(podFailurePolicyRule), 'The first that applies to a pod decides. At most 20.', {
    default: [],
  }),
})

export interface SuccessPolicyRule extends Infer<typeof successPolicyRule> {}
export const successPolicyRule = object(`${batchV1}.SuccessPolicyRule`, 'Indexes that must have succeeded.', {
  succeededIndexes: pointer(string(), 'Which ones, such as 0,3-5; any unless set.'),
  succeededCount: pointer(int32(), 'How many of them; all of them unless set.'),
})

export interface SuccessPolicy extends Infer<typeof successPolicy> {}
export const successPolicy = object(`${batchV1}.SuccessPolicy`, 'When a Job of indexes has succeeded early.', {
  rules: required(atomicList(successPolicyRule), 'The first that is met ends the Job. At most 20.', { default: [] }),
})

export interface JobSpec extends Infer<typeof jobSpec> {}
export const jobSpec = object(
  `${batchV1}.JobSpec`,
  'What the pods look like, how many of them must succeed, and what happens when they fail.',
  {
    parallelism: pointer(int32(), 'How many pods run at a time at most; 1 unless set.'),
    completions: pointer(
      int32(),
      'How many pods must succeed. Without it one that succeeds is enough, however many run. 1 where parallelism is not set either.',
    ),
    activeDeadlineSeconds: pointer(
      exactInt64(),
      'Seconds after its start, or after it was last resumed, at which the Job fails, whatever runs.',
    ),
    podFailurePolicy: optional(podFailurePolicy, 'What follows from failures of pods, beside counting them.'),
    successPolicy: optional(successPolicy, 'When a Job of indexes has succeeded early; with completionMode Indexed.'),
    backoffLimit: pointer(
      int32(),
      'How many failures are borne before the Job fails; 6 unless set, and no limit with backoffLimitPerIndex.',
    ),
    backoffLimitPerIndex: pointer(
      int32(),
      'How many failures of each index are borne before the index fails; with completionMode Indexed.',
    ),
    maxFailedIndexes: pointer(
      int32(),
      'How many indexes may fail before the Job does, at once; with backoffLimitPerIndex.',
    ),
    selector: optional(labelSelector, 'The pods that count. Made by the server, unless manualSelector says otherwise.'),
    manualSelector: pointer(
      boolean,
      'Whether the selector and the labels of the template are given, rather than made by the server.',
    ),
    template: required(podTemplateSpec, 'What the pods look like. Their restartPolicy is Never or OnFailure.', {
      byValue: true,
      default: emptyTemplate,
    }),
    ttlSecondsAfterFinished: pointer(
      int32(),
      'Seconds after its end at which the Job is deleted. It is kept unless set.',
    ),
    completionMode: pointer(
      literal<'NonIndexed' | 'Indexed'>(),
      'Indexed: each pod has an index, from 0, and one of each must succeed. NonIndexed: all pods are alike. NonIndexed unless set.',
    ),
    suspend: pointer(boolean, 'Whether no pods are to run for now. False unless set.'),
    podReplacementPolicy: pointer(
      literal<'TerminatingOrFailed' | 'Failed'>(),
      'When a pod is replaced: TerminatingOrFailed, as soon as it is on its way out; Failed, when it has ended. TerminatingOrFailed unless set, and Failed with podFailurePolicy.',
    ),
    managedBy: pointer(
      string(),
      'The controller that is to run the Job, such as example.com/queue; kubernetes.io/job-controller unless set. It cannot be changed.',
    ),
  },
  {
    checkedOrder: [
      'parallelism',
      'completions',
      'activeDeadlineSeconds',
      'backoffLimit',
      'ttlSecondsAfterFinished',
      'backoffLimitPerIndex',
      'maxFailedIndexes',
      'managedBy',
      'completionMode',
      'podFailurePolicy',
      'successPolicy',
      'podReplacementPolicy',
      'template',
      'selector',
    ],
  },
)

/** What a CronJob makes Jobs from. */
export interface JobTemplateSpec extends Infer<typeof jobTemplateSpec> {}
export const jobTemplateSpec = object(`${batchV1}.JobTemplateSpec`, 'What Jobs made from it look like.', {
  metadata: optional(objectMeta, 'Labels and annotations of the Jobs.', { default: {}, byValue: true }),
  spec: defaulted(jobSpec, 'What the Jobs are to do.', { template: emptyTemplate } as JobSpec, { byValue: true }),
})

export interface JobCondition extends Infer<typeof jobCondition> {}
export const jobCondition = conditionOf(
  `${batchV1}.JobCondition`,
  'One aspect of how a Job is doing.',
  'What it is about: Complete, Failed, Suspended, FailureTarget or SuccessCriteriaMet.',
  { lastProbeTime: optional(time, 'When it was last looked at.', { byValue: true }) },
)

export interface UncountedTerminatedPods extends Infer<typeof uncountedTerminatedPods> {}
export const uncountedTerminatedPods = object(
  `${batchV1}.UncountedTerminatedPods`,
  'Pods that have ended, still have the finalizer, and are about to be counted.',
  {
    succeeded: optional(setList(string(), { duplicates: 'allowed' }), 'UIDs of those that succeeded.'),
    failed: optional(setList(string(), { duplicates: 'allowed' }), 'UIDs of those that failed.'),
  },
)

export interface JobStatus extends Infer<typeof jobStatus> {}
export const jobStatus = object(`${batchV1}.JobStatus`, 'How far a Job is.', {
  conditions: optional(
    atomicList(jobCondition, { patchStrategy: 'merge', patchMergeKey: 'type' }),
    'Whether it is over, or suspended. A Job with Complete or Failed does nothing any more.',
  ),
  startTime: optional(time, 'When the controller first saw it, or when it was last resumed.'),
  completionTime: optional(time, 'When it succeeded.'),
  active: optional(int32(), 'Pods that are neither over nor on their way out.'),
  succeeded: optional(int32(), 'Pods that have succeeded.'),
  failed: optional(int32(), 'Pods that have failed.'),
  terminating: pointer(int32(), 'Pods that are on their way out.'),
  completedIndexes: optional(string(), 'Indexes that have succeeded, such as 1,3-5,7.'),
  failedIndexes: pointer(string(), 'Indexes that have failed, in the same form; with backoffLimitPerIndex.'),
  uncountedTerminatedPods: optional(
    uncountedTerminatedPods,
    'Pods that are about to be counted: they are here before they lose the finalizer, so that none is counted twice.',
  ),
  ready: pointer(int32(), 'Active pods that are ready.'),
})

/** Runs pods until enough of them have succeeded. */
export interface Job extends Infer<typeof jobSchema> {}
export const jobSchema = kindSchema(`${batchV1}.Job`, 'Runs pods until as many as it says have succeeded.', {
  spec: defaulted(jobSpec, 'What is to be done.', { template: emptyTemplate } as JobSpec, { byValue: true }),
  status: optional(jobStatus, 'How far it is. Written by the controller.', { default: {} }),
})
