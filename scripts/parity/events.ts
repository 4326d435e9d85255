/**
 * The Events of upstream's controllers (pkg/controller, v1.36, kubernetes/kubernetes) by reason, type and words, and where they come from
 * here.
 */

export interface ControllerEvent {
  /** Upstream's name of the controller. */
  readonly controller: string
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  /** Its words, with what is filled in as `…`. */
  readonly message: string
  /** The file here that holds reason and words; absent: there is no such event. */
  readonly where?: string
  /** What is different, or why it is missing. */
  readonly note?: string
}

const src = (path: string): string => `packages/controllers/src/${path}.ts`

type Row = readonly [type: 'Normal' | 'Warning', reason: string, message: string, where: string, note?: string]

const of = (controller: string, ...rows: readonly Row[]): readonly ControllerEvent[] =>
  rows.map(([type, reason, message, where, note]) => ({
    controller,
    type,
    reason,
    message,
    ...(where === '' ? {} : { where }),
    ...(note === undefined ? {} : { note }),
  }))

const pods = (where: string): readonly Row[] => [
  ['Normal', 'SuccessfulCreate', 'Created pod: …', where],
  ['Warning', 'FailedCreate', 'Error creating: …', where],
  ['Normal', 'SuccessfulDelete', 'Deleted pod: …', where],
  ['Warning', 'FailedDelete', 'Error deleting: …', where],
]

const fromCache = 'Reads come from the cache, and do not fail.'
const noRecycler = 'Nothing is recycled.'

export const controllerEvents: readonly ControllerEvent[] = [
  ...of('replicaset, replicationcontroller', ...pods(src('replicas/plan'))),
  ...of(
    'deployment',
    ['Normal', 'ScalingReplicaSet', 'Scaled … replica set … from … to …', src('deployment/draft')],
    ['Warning', 'ReplicaSetCreateError', 'Failed to create new replica set "…": …', src('deployment/draft')],
    [
      'Warning',
      'SelectingAll',
      'This deployment is selecting all pods. A non-empty selector is required.',
      src('deployment/plan'),
    ],
    ['Warning', 'DeploymentRollbackRevisionNotFound', 'Unable to find last revision.', src('deployment/rollback')],
    [
      'Warning',
      'DeploymentRollbackRevisionNotFound',
      'Unable to find the revision to rollback to.',
      src('deployment/rollback'),
    ],
    [
      'Warning',
      'DeploymentRollbackTemplateUnchanged',
      'The rollback revision contains the same template as current deployment "…"',
      src('deployment/rollback'),
    ],
    ['Normal', 'DeploymentRollback', 'Rolled back deployment "…" to revision …', src('deployment/rollback')],
  ),
  ...of(
    'statefulset',
    ['Normal', 'SuccessfulCreate', 'Create Pod … in StatefulSet … successful', src('stateful-set/steps')],
    ['Warning', 'FailedCreate', 'Create Pod … in StatefulSet … failed error: …', src('stateful-set/steps')],
    ['Normal', 'SuccessfulUpdate', 'Update Pod … in StatefulSet … successful', src('stateful-set/steps')],
    ['Warning', 'FailedUpdate', 'Update Pod … in StatefulSet … failed error: …', src('stateful-set/steps')],
    ['Normal', 'SuccessfulDelete', 'Delete Pod … in StatefulSet … successful', src('stateful-set/steps')],
    ['Warning', 'FailedDelete', 'Delete Pod … in StatefulSet … failed error: …', src('stateful-set/steps')],
    ['Normal', 'SuccessfulCreate', 'Create Claim … Pod … in StatefulSet … success', src('stateful-set/claims')],
    [
      'Warning',
      'FailedCreate',
      'Create Claim … for Pod … in StatefulSet … failed error: …',
      src('stateful-set/claims'),
    ],
  ),
  ...of(
    'daemonset',
    ...pods(src('daemon-set/coverage')),
    [
      'Warning',
      'FailedDaemonPod',
      'Found failed daemon pod …/… on node …, will try to kill it',
      src('daemon-set/coverage'),
    ],
    [
      'Normal',
      'SucceededDaemonPod',
      'Found succeeded daemon pod …/… on node …, will try to delete it',
      src('daemon-set/coverage'),
    ],
    [
      'Warning',
      'SelectingAll',
      'This daemon set is selecting all pods. A non-empty selector is required.',
      src('daemon-set/plan'),
    ],
  ),
  ...of(
    'job',
    ...pods(src('job/new-pods')),
    ['Normal', 'Suspended', 'Job suspended', src('job/plan')],
    ['Normal', 'Resumed', 'Job resumed', src('job/plan')],
    ['Normal', 'Completed', 'Job completed', src('job/plan')],
    ['Warning', 'BackoffLimitExceeded', 'Job has reached the specified backoff limit', src('job/ending')],
    ['Warning', 'DeadlineExceeded', 'Job was active longer than specified deadline', src('job/ending')],
    ['Warning', 'PodFailurePolicy', '… matching … rule at index …', src('job/pod-failure-policy')],
    ['Warning', 'FailedIndexes', 'Job has failed indexes', src('job/ending')],
    [
      'Warning',
      'MaxFailedIndexesExceeded',
      'Job has exceeded the specified maximal number of failed indexes',
      src('job/ending'),
    ],
  ),
  ...of(
    'cronjob',
    ['Normal', 'SuccessfulCreate', 'Created job …', src('cron-job/plan')],
    ['Warning', 'FailedCreate', 'Error creating job: …', src('cron-job/plan')],
    ['Normal', 'SuccessfulDelete', 'Deleted job …', src('cron-job/plan')],
    ['Warning', 'FailedDelete', 'Deleted job: …', src('cron-job/plan')],
    ['Warning', 'UnexpectedJob', 'Saw a job that the controller did not create or forgot: …', src('cron-job/plan')],
    ['Normal', 'SawCompletedJob', 'Saw completed job: …, condition: …', src('cron-job/plan')],
    ['Normal', 'MissingJob', 'Active job went missing: …', src('cron-job/plan')],
    ['Warning', 'UnknownTimeZone', 'invalid timeZone: …', src('cron-job/schedule')],
    ['Warning', 'UnparseableSchedule', 'unparseable schedule: …', src('cron-job/schedule')],
    ['Warning', 'InvalidSchedule', 'invalid schedule: …', src('cron-job/plan')],
    ['Warning', 'TooManyMissedTimes', 'too many missed start times. …', src('cron-job/plan')],
    ['Warning', 'MissSchedule', 'Missed scheduled time to start a job: …', src('cron-job/plan')],
    [
      'Normal',
      'JobAlreadyActive',
      'Not starting job because prior execution is running and concurrency policy is Forbid',
      src('cron-job/plan'),
    ],
    ['Warning', 'FailedGet', 'Get job: …', '', fromCache],
  ),
  ...of(
    'horizontal-pod-autoscaler',
    ['Normal', 'SuccessfulRescale', 'New size: …; reason: …', src('horizontal-pod-autoscaler/plan')],
    ['Warning', 'FailedRescale', 'New size: …; reason: …; error: …', src('horizontal-pod-autoscaler/plan')],
    ['Warning', 'FailedGetScale', '…', src('horizontal-pod-autoscaler/plan')],
    [
      'Warning',
      'FailedComputeMetricsReplicas',
      'invalid metrics (… invalid out of …), first error is: …',
      src('horizontal-pod-autoscaler/plan'),
    ],
    ['Warning', 'SelectorRequired', 'selector is required', src('horizontal-pod-autoscaler/selector-problems')],
    [
      'Warning',
      'InvalidSelector',
      "couldn't convert selector into a corresponding internal selector object: …",
      src('horizontal-pod-autoscaler/selector-problems'),
    ],
    [
      'Warning',
      'AmbiguousSelector',
      'pods by selector … are controlled by multiple HPAs: …',
      src('horizontal-pod-autoscaler/selector-problems'),
    ],
    ['Warning', 'FailedConvertHPA', '…', '', 'The controller reads the version it works with.'],
    ['Warning', 'FailedUpdateStatus', '…', '', 'A status that is refused is logged and written again.'],
  ),
  ...of(
    'disruption',
    ['Normal', 'NoPods', 'No matching pods found', src('disruption/plan')],
    [
      'Warning',
      'CalculateExpectedPodCountFailed',
      'Failed to calculate the number of expected pods: …',
      src('disruption/plan'),
    ],
    [
      'Warning',
      'UnmanagedPods',
      'Pods selected by this PodDisruptionBudget (selector: …) were found to be unmanaged. …',
      src('disruption/plan'),
    ],
    ['Warning', 'NotDeleted', "Pod was expected by PDB …/… to be deleted but it wasn't", src('disruption/plan')],
    [
      'Warning',
      'MultiplePodDisruptionBudgets',
      'Pod "…"/"…" matches multiple PodDisruptionBudgets.  Chose "…" arbitrarily.',
      '',
      'All budgets of a pod are counted; an eviction of it is refused and says so.',
    ],
  ),
  ...of(
    'node-lifecycle, taint-eviction',
    ['Normal', 'RegisteredNode', 'Node … event: Registered Node … in Controller', src('node-lifecycle/plan')],
    ['Normal', 'RemovingNode', 'Node … event: Removing Node … from Controller', src('node-lifecycle/controller')],
    ['Normal', 'NodeNotReady', 'Node … status is now: NodeNotReady', src('node-lifecycle/plan')],
    ['Warning', 'NodeNotReady', 'Node is not ready', src('node-lifecycle/plan')],
    ['Normal', 'TaintManagerEviction', 'Marking for deletion … …/…', src('node-lifecycle/plan')],
    ['Normal', 'TaintManagerEviction', 'Cancelling deletion of … …/…', src('node-lifecycle/plan')],
  ),
  ...of(
    'device-taint-eviction',
    ['Normal', 'DeviceTaintManagerEviction', 'Marking for deletion', src('device-taint-eviction/plan')],
    ['Normal', 'DeviceTaintManagerEviction', 'Cancelling deletion', src('device-taint-eviction/plan')],
  ),
  ...of(
    'endpoint, endpointslice, endpointslice-mirroring',
    [
      'Warning',
      'FailedToUpdateEndpointSlices',
      'Error updating Endpoint Slices for Service …/…: …',
      src('endpoint-slice/plan'),
    ],
    ['Normal', 'TopologyAwareHintsEnabled', '…', src('endpoint-slice/plan')],
    ['Warning', 'TopologyAwareHintsDisabled', '…', src('endpoint-slice/plan')],
    ['Warning', 'FailedToListPods', 'Error listing Pods for Service …/…: …', '', fromCache],
    ['Warning', 'FailedToListEndpointSlices', 'Error listing Endpoint Slices for Service …/…: …', '', fromCache],
    [
      'Warning',
      'FailedToCreateEndpoint',
      'Failed to create endpoint for service …/…: …',
      src('endpoints/plan'),
      'About the service, which is there.',
    ],
    [
      'Warning',
      'FailedToUpdateEndpoint',
      'Failed to update endpoint …/…: …',
      src('endpoints/plan'),
      'About the service.',
    ],
    [
      'Warning',
      'InvalidIPAddress',
      'Skipped … invalid IP addresses when mirroring to EndpointSlices',
      src('endpoint-slice-mirroring/plan'),
    ],
    [
      'Warning',
      'TooManyAddressesToMirror',
      'A max of … addresses can be mirrored to EndpointSlices per Endpoints subset. … addresses were skipped',
      src('endpoint-slice-mirroring/plan'),
    ],
  ),
  ...of(
    'persistentvolume-binder',
    [
      'Normal',
      'FailedBinding',
      'no persistent volumes available for this claim and no storage class is set',
      src('persistent-volume-binder/plan'),
    ],
    [
      'Normal',
      'WaitForFirstConsumer',
      'waiting for first consumer to be created before binding',
      src('persistent-volume-binder/plan'),
    ],
    ['Normal', 'WaitForPodScheduled', 'waiting for … to be scheduled', src('persistent-volume-binder/plan')],
    [
      'Normal',
      'ExternalProvisioning',
      'Waiting for a volume to be created either by the external provisioner …',
      src('persistent-volume-binder/plan'),
    ],
    ['Warning', 'VolumeMismatch', 'Cannot bind to requested volume …: …', src('persistent-volume-binder/plan')],
    [
      'Warning',
      'VolumeMismatch',
      'Cannot bind PersistentVolume … to requested PersistentVolumeClaim due to incompatible volumeMode.',
      src('persistent-volume-phase/plan'),
    ],
    ['Warning', 'FailedBinding', 'volume … already bound to a different claim.', src('persistent-volume-binder/plan')],
    [
      'Warning',
      'ClaimLost',
      'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!',
      src('persistent-volume-binder/plan'),
    ],
    [
      'Warning',
      'ClaimLost',
      'Bound claim has lost its PersistentVolume. Data on the volume is lost!',
      src('persistent-volume-binder/plan'),
    ],
    [
      'Warning',
      'ClaimMisbound',
      'Two claims are bound to the same volume, this one is bound incorrectly',
      src('persistent-volume-binder/plan'),
    ],
    ['Warning', 'ProvisioningFailed', '…', src('persistent-volume-binder/plan')],
    ['Normal', 'ProvisioningSucceeded', 'Successfully provisioned volume …', src('local-path-provisioner/controller')],
    ['Warning', 'ProvisioningCleanupFailed', '…', '', 'A provisioned path is kept until its volume is written.'],
    ['Warning', 'VolumeFailedDelete', '…', src('local-path-provisioner/controller')],
    ['Warning', 'VolumeFailedRecycle', '…', src('persistent-volume-phase/plan')],
    ['Normal', 'VolumeRecycled', 'Volume recycled', '', noRecycler],
    ['Normal', 'RecyclerPod', 'Recycler pod: …', '', noRecycler],
  ),
  ...of('persistentvolume-expander', [
    'Normal',
    'ExternalExpanding',
    'waiting for an external controller to expand this PVC',
    src('volume-expansion/plan'),
  ]),
  ...of('ephemeral-volume', [
    'Warning',
    'FailedBinding',
    'ephemeral volume …: create PVC …: …',
    src('ephemeral-volume/plan'),
  ]),
  ...of('garbage-collector', [
    'Warning',
    'OwnerRefInvalidNamespace',
    'ownerRef … does not exist in namespace "…"',
    src('garbage-collector/garbage-collector'),
  ]),
]
