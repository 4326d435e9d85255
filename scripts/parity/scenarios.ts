/**
 * The scenarios of upstream's end-to-end tests for workloads, autoscaling, scheduling and services (test/e2e/{apps,autoscaling,scheduling,
 * network}, kubernetes/kubernetes, up to v1.36), without their tags: for each the tests here that ask the same, or why there is none.
 */

/** Where a scenario is asked: a test file, and what its tests there are called, or how their names begin. */
export interface CoveredScenario {
  readonly name: string
  readonly file: string
  readonly tests: readonly string[]
}

/** A scenario that is not asked, and why. */
export interface OmittedScenario {
  readonly name: string
  readonly reason: string
}

export type Scenario = CoveredScenario | OmittedScenario

export interface ScenarioSuite {
  /** What upstream's names of its scenarios begin with. */
  readonly name: string
  readonly scenarios: readonly Scenario[]
}

const cluster = (name: string): string => `packages/cluster/test/${name}.test.ts`
const controller = (name: string): string => `packages/controllers/src/${name}.test.ts`
const apiOperations = cluster('api-operations')
const scenarios = cluster('upstream-scenarios')
const scheduling = cluster('upstream-scheduling')
const services = cluster('upstream-services')
const autoscaling = cluster('autoscaling')
const adapter = cluster('adapter-metrics')
const jobs = cluster('job')
const deployments = cluster('deployment')
const daemonSets = cluster('daemon-set')
const statefulSets = cluster('stateful-set')
const volumes = cluster('volumes')
const podTraffic = 'conformance/upstream-pod-traffic.test.ts'
const domainNames = 'conformance/names.test.ts'
const serviceTraffic = 'conformance/upstream-service-traffic.test.ts'

/** A scenario that a test of the same name asks, or tests of these names. */
const asked = (file: string, name: string, ...tests: readonly string[]): CoveredScenario => ({
  name,
  file,
  tests: tests.length === 0 ? [name] : tests,
})
const omitted = (reason: string, ...names: readonly string[]): readonly OmittedScenario[] =>
  names.map((name) => ({ name, reason }))

const userspace =
  'The service proxy is a program without root: packets are not rewritten, so sources and addresses of others are beyond it.'
const clouds = 'There is no cloud provider, and no load balancer of one.'
const clusterAutoscaler = 'Tests the cluster autoscaler, another project that adds and removes machines of a cloud.'
const policies = 'Pods of the process runtime share the network of their host, where nobody enforces network policies.'
const applications = 'Runs container images of databases, which the process runtime does not.'
const podNetwork =
  'Traffic between pods: those of the process runtime share the network of their host, simulated ones have none.'
const devices =
  'There is no such hardware where tests run; plugins of devices are tested with container runtimes by one of their own.'
const stages = 'is created, found, watched, patched, replaced and deleted'
const collection = 'is listed in all namespaces and deleted as a collection, by its labels'
const status = 'has a status that is read, patched and replaced apart from the rest'
const scale = 'has a scale that is read, replaced and patched'

export const suites: readonly ScenarioSuite[] = [
  {
    name: 'ReplicationController',
    scenarios: [
      asked(
        'conformance/process-runtime.test.ts',
        'should serve a basic image on each replica with a public image',
        'runs two pods, which answer on one port, each on its own address',
      ),
      asked(podTraffic, 'should serve a basic image on each replica with a private image'),
      asked(scenarios, 'should surface a failure condition on a common issue like exceeded quota'),
      asked(scenarios, 'should adopt matching pods on creation', 'should adopt matching pods on creation, and release'),
      asked(scenarios, 'should release no longer matching pods', 'and release no longer matching pods'),
      asked(apiOperations, 'should test the lifecycle of a ReplicationController', stages),
      asked(apiOperations, 'should get and update a ReplicationController scale', scale),
    ],
  },
  {
    name: 'ReplicaSet',
    scenarios: [
      asked(podTraffic, 'should serve a basic image on each replica with a private image'),
      asked(scenarios, 'should surface a failure condition on a common issue like exceeded quota'),
      asked(
        scenarios,
        'should adopt matching pods on creation and release no longer matching pods',
        'should adopt matching pods on creation, and release no longer matching pods',
      ),
      asked(apiOperations, 'Replicaset should have a working scale subresource', scale),
      asked(apiOperations, 'Replace and Patch tests', stages),
      asked(apiOperations, 'should list and delete a collection of ReplicaSets', collection),
      asked(apiOperations, 'should validate Replicaset Status endpoints', status),
    ],
  },
  {
    name: 'Deployment',
    scenarios: [
      asked(
        deployments,
        'deployment reaping should cascade to its replica sets and pods',
        'with its ReplicaSets and their pods',
      ),
      asked(
        deployments,
        'RollingUpdateDeployment should delete old pods and create new ones',
        'replaces the pods when the template changes, and says how',
      ),
      asked(
        deployments,
        'RecreateDeployment should delete old pods and create new ones',
        'never has old and new pods at once where they are recreated',
      ),
      asked(deployments, 'deployment should delete old replica sets', 'keeps as many old ReplicaSets as it may'),
      asked(scenarios, 'deployment should support rollover', 'should support rollover: '),
      asked(
        deployments,
        'deployment should support proportional scaling',
        'keeps the proportions of old and new when it is scaled',
      ),
      asked(
        deployments,
        'test Deployment ReplicaSet orphaning and adoption regarding controllerRef',
        'alone (Orphan), and the next of that selector and template takes all over',
      ),
      asked(
        'packages/simulator/test/simulator.test.ts',
        'iterative rollouts should eventually progress',
        'under seed %i',
      ),
      ...omitted(clouds, "should not disrupt a cloud load-balancer's connectivity during rollout"),
      asked(apiOperations, 'should run the lifecycle of a Deployment', stages, collection),
      asked(apiOperations, 'should validate Deployment Status endpoints', status),
      asked(apiOperations, 'Deployment should have a working scale subresource', scale),
    ],
  },
  {
    name: 'StatefulSet',
    scenarios: [
      asked(statefulSets, 'should provide basic identity', 'gives a pod that comes back its name and its claim'),
      asked(scenarios, 'should adopt matching orphans and release non-matching pods'),
      asked(scenarios, "should not deadlock when a pod's predecessor fails"),
      asked(
        volumes,
        'should perform rolling updates and roll backs of template modifications with PVCs',
        'of a stateful set finds its own again, and it goes or stays as the set says',
      ),
      asked(
        scenarios,
        'should perform rolling updates and roll backs of template modifications',
        'should take a template that it had before as what it was',
      ),
      asked(
        scenarios,
        'should perform canary updates and phased rolling updates of template modifications',
        'should restore a pod that is deleted during a canary update, without violating the partition',
      ),
      asked(scenarios, 'should implement legacy replacement when the update strategy is OnDelete'),
      asked(
        scenarios,
        'Scaling should happen in predictable order and halt if any stateful pod is unhealthy',
        'scaling should happen in predictable order and halt if any stateful pod is unhealthy',
      ),
      asked(
        scenarios,
        'Burst scaling should run to completion even with unhealthy pods',
        'burst scaling should run to completion even with unhealthy pods',
      ),
      asked(scenarios, 'Should recreate evicted statefulset', 'should recreate an evicted stateful pod'),
      asked(apiOperations, 'should have a working scale subresource', scale),
      asked(apiOperations, 'should list, patch and delete a collection of StatefulSets', collection),
      asked(apiOperations, 'should validate Statefulset Status endpoints', status),
      asked(scenarios, 'MinReadySeconds should be honored when enabled'),
      asked(
        scenarios,
        'AvailableReplicas should get updated accordingly when MinReadySeconds is enabled',
        'MinReadySeconds should be honored when enabled',
      ),
      ...[
        'should delete PVCs with a WhenDeleted policy',
        'should delete PVCs with a OnScaledown policy',
        'should delete PVCs after adopting pod (WhenDeleted)',
        'should delete PVCs after adopting pod (WhenScaled)',
      ].map((name) =>
        asked(
          controller('stateful-set/plan'),
          name,
          'go with the stateful set, if it says so',
          'go with a pod that is too much, if it says so',
        ),
      ),
      asked(
        controller('stateful-set/plan'),
        'PVC should be recreated when pod is pending due to missing PVC',
        'are made again for a pod that waits for them',
      ),
      ...['Setting', 'Increasing', 'Decreasing', 'Removing'].map((change) =>
        asked(
          scenarios,
          `Scaling StatefulSetStartOrdinal ${change} .start.ordinal`,
          'follows its start: set, increased, decreased and removed',
        ),
      ),
      ...omitted(
        applications,
        'should creating a working zookeeper cluster',
        'should creating a working redis cluster',
        'should creating a working mysql cluster',
        'should creating a working CockroachDB cluster',
      ),
    ],
  },
  {
    name: 'Daemon set',
    scenarios: [
      asked(daemonSets, 'should run and stop simple daemon', 'has a pod on every node, and says so'),
      asked(
        daemonSets,
        'should run and stop complex daemon',
        'comes to a node that is labelled for it, and leaves one that is no longer',
      ),
      asked(
        controller('daemon-set/plan'),
        'should run and stop complex daemon with node affinity',
        'a node without them',
        'can be bound to that node only, keeps what the template prefers',
      ),
      asked(scenarios, 'should retry creating failed daemon pods'),
      asked(
        controller('daemon-set/plan'),
        'should not update pod when spec was updated and update strategy is OnDelete',
        'leaves pods to others',
      ),
      asked(
        daemonSets,
        'should update pod when spec was updated and update strategy is RollingUpdate',
        'replaces its pods one by one when the template changes',
      ),
      asked(
        daemonSets,
        'should surge pods onto nodes when spec was updated and update strategy is RollingUpdate',
        'never lacks a pod while it may have a surplus one',
      ),
      asked(scenarios, 'should rollback without unnecessary restarts'),
      asked(apiOperations, 'should list and delete a collection of DaemonSets', collection),
      asked(apiOperations, 'should verify changes to a daemon set status', status),
      asked(
        scenarios,
        'ControllerRevision should manage the lifecycle of a ControllerRevision',
        'should keep the history of its templates, and no more of it than it may',
      ),
    ],
  },
  {
    name: 'Job',
    scenarios: [
      asked(
        jobs,
        'should run a job to completion when tasks succeed',
        'of eight completions, two at a time, run in four waves',
      ),
      asked(scenarios, 'should allow to use the pod failure policy on exit code to fail the job early'),
      asked(
        controller('job/plan'),
        'should allow to use the pod failure policy to not count the failure towards the backoffLimit',
        'do not count for the limit',
      ),
      asked(
        scenarios,
        'should allow to use a pod failure policy to ignore failure matching on DisruptionTarget condition',
      ),
      asked(
        controller('job/plan'),
        'Using a pod failure policy to not count some failures Ignore exit code 137',
        'do not count for the limit',
      ),
      asked(
        controller('job/plan'),
        'should not create pods when created in suspend state',
        'do not come while it is suspended',
      ),
      asked(
        jobs,
        'should delete pods when suspended',
        'stop while they are suspended, and go on when they are resumed',
      ),
      asked(
        controller('job/plan'),
        'should recreate pods only after they have failed if pod replacement policy is set to Failed',
        'wait for the end of one that is going',
      ),
      asked(scenarios, 'should create pods for an Indexed job with completion indexes and specified hostname'),
      ...[
        'with successPolicy should succeeded when all indexes succeeded',
        'with successPolicy succeededIndexes rule',
        'with successPolicy succeededCount rule',
      ].map((name) => asked(controller('job/plan'), name, 'an early success', 'an early success of some')),
      asked(
        jobs,
        'should execute all indexes despite some failing when using backoffLimitPerIndex',
        'run each index once, and try those again that fail',
      ),
      asked(
        controller('job/plan'),
        'should terminate job execution when the number of failed indexes exceeds maxFailedIndexes',
        'too many failed indexes',
      ),
      asked(
        controller('job/plan'),
        'should mark indexes as failed when the FailIndex action is matched in podFailurePolicy',
        'are over at once where a rule says so',
      ),
      asked(
        controller('job/plan'),
        'should record the failure-count in the Pod annotation when using backoffLimitPerIndex',
        'are tried again with one failure more',
      ),
      asked(jobs, 'should remove pods when job is deleted', 'leave no pod behind when they are deleted'),
      asked(scenarios, 'should run a job to completion when tasks sometimes fail and are locally restarted'),
      asked(
        jobs,
        'should run a job to completion when tasks sometimes fail and are not locally restarted',
        'fail after so many failures, each later than the one before',
      ),
      asked(jobs, 'should fail when exceeds active deadline', 'end at their deadline, and take their pods with them'),
      asked(jobs, 'should delete a job', 'leave no pod behind when they are deleted'),
      asked(scenarios, 'should adopt matching orphans and release non-matching pods'),
      asked(jobs, 'should fail to exceed backoffLimit', 'fail after so many failures, each later than the one before'),
      asked(
        scheduling,
        'should run a job to completion with CPU requests',
        'validates resource limits of pods that are allowed to run',
      ),
      asked(apiOperations, 'should apply changes to a job status', status),
      asked(apiOperations, 'should manage the lifecycle of a job', stages, collection),
      asked(
        controller('job/plan'),
        'should update the status ready field',
        'says how many pods are active, ready and going',
      ),
      asked(
        jobs,
        'TTLAfterFinished job should be deleted once it finishes after TTL seconds',
        'go by themselves so long after their end as they say',
      ),
    ],
  },
  {
    name: 'CronJob',
    scenarios: [
      asked(scenarios, 'should schedule multiple jobs concurrently'),
      asked(scenarios, 'should not schedule jobs when suspended'),
      asked(scenarios, 'should not schedule new jobs when ForbidConcurrent'),
      asked(scenarios, 'should replace jobs when ReplaceConcurrent'),
      asked(
        controller('cron-job/plan'),
        'should be able to schedule after more than 100 missed schedule',
        'are told about when too many were missed',
      ),
      asked(scenarios, 'should not emit unexpected warnings'),
      asked(scenarios, 'should remove from active list jobs that have been deleted'),
      asked(scenarios, 'should delete successful finished jobs with limit of one successful job'),
      asked(
        controller('cron-job/plan'),
        'should delete failed finished jobs with limit of one job',
        'keeps as many jobs that are over as it says, the latest',
      ),
      asked(scenarios, 'should support timezone'),
      asked(apiOperations, 'should support CronJob API operations', stages, collection, status),
    ],
  },
  {
    name: 'DisruptionController',
    scenarios: [
      asked(apiOperations, 'should list and delete a collection of PodDisruptionBudgets', collection),
      asked(apiOperations, 'should create a PodDisruptionBudget', stages),
      asked(
        controller('disruption/controller'),
        'should observe PodDisruptionBudget status updated',
        'counts again when a pod comes, goes, or is ready no more',
      ),
      asked(apiOperations, 'should update/patch PodDisruptionBudget status', status),
      asked(
        scenarios,
        'should observe that the PodDisruptionBudget status is not updated for unmanaged pods',
        'should observe that the status is not updated for unmanaged pods',
      ),
      ...[
        'no PDB',
        'too few pods, absolute',
        'enough pods, absolute',
        'enough pods, replicaSet, percentage',
        'too few pods, replicaSet, percentage',
        'maxUnavailable allow single eviction, percentage',
        'maxUnavailable deny evictions, integer',
      ].map((name) => asked(scenarios, `evictions: ${name}`, name)),
      asked(
        scenarios,
        'should block an eviction until the PDB is updated to allow it',
        'should block an eviction until it is updated to allow it',
      ),
      ...['ready', 'unready'].flatMap((pod) =>
        ['Default', 'IfHealthyBudget', 'AlwaysAllow'].map((policy) =>
          asked(
            scenarios,
            `should evict ${pod} pods with ${policy} UnhealthyPodEvictionPolicy`,
            `'${pod}', '${policy}'`,
          ),
        ),
      ),
    ],
  },
  {
    name: 'DaemonRestart and Network Partition',
    scenarios: [
      asked(
        'conformance/crash.test.ts',
        'Controller Manager should not create/delete replicas across restart',
        'has exactly 200 in the end, none lost and none doubled',
      ),
      asked(
        'packages/simulator/test/simulator.test.ts',
        'Scheduler should continue assigning pods to nodes across restart',
        'under seed %i',
      ),
      asked(
        'conformance/process-runtime.test.ts',
        'Kubelet should not restart containers across restart',
        'goes on while the program is dead, and is taken up as it is',
      ),
      asked(
        serviceTraffic,
        'Kube-proxy should recover after being killed accidentally',
        'should work after restarting kube-proxy: the program is killed',
      ),
      ...[
        'All pods on the unreachable node should be marked as NotReady upon the node turn NotReady',
        'should recreate pods scheduled on the unreachable node AND allow scheduling of pods on a node after it rejoins the cluster',
        'should eagerly create replacement pod during network partition when termination grace is non-zero',
        'should come back up if node goes down',
        'should not reschedule stateful pods if there is a network partition',
        'should create new pods when node is partitioned',
      ].map((name) =>
        asked(
          controller('node-lifecycle/controller'),
          name,
          'takes pods of a lost node for not ready, and evicts them when they tolerate it no longer',
        ),
      ),
    ],
  },
  {
    name: 'Horizontal pod autoscaling (scale resource: CPU)',
    scenarios: [
      ...['Average Utilization', 'Average Value'].flatMap((target) => [
        asked(
          autoscaling,
          `Deployment (Pod Resource) Should scale from 1 pod to 3 pods and then from 3 pods to 5 pods using ${target} for aggregation`,
          ...(target === 'Average Value'
            ? ['an average of memory']
            : ['grows from one pod to three and from three to five, and shrinks by and by']),
        ),
        asked(
          autoscaling,
          `Deployment (Container Resource) Should scale from 1 pod to 3 pods and then from 3 pods to 5 pods using ${target} for aggregation`,
          'goes by one container of several',
        ),
      ]),
      asked(
        autoscaling,
        'Deployment (Pod Resource) Should scale from 5 pods to 3 pods and then from 3 pods to 1 pod using Average Utilization for aggregation',
        'grows from one pod to three and from three to five, and shrinks by and by',
      ),
      ...[
        'Should scale from 1 pod to 3 pods and then from 3 pods to 5 pods',
        'Should scale from 5 pods to 3 pods and then from 3 pods to 1 pod',
      ].flatMap((name) => [
        asked(autoscaling, `ReplicaSet ${name}`, 'a replica set'),
        asked(autoscaling, `ReplicationController ${name} and verify decision stability`, 'a replication controller'),
      ]),
      asked(
        autoscaling,
        'ReplicaSet with idle sidecar (ContainerResource use case) Should scale from 1 pod to 3 pods and then from 3 pods to 5 pods on a busy application with an idle sidecar container',
        'goes by one container of several',
      ),
      asked(
        autoscaling,
        'ReplicaSet with idle sidecar (ContainerResource use case) Should not scale up on a busy sidecar with an idle application',
        'goes by one container of several',
      ),
      asked(autoscaling, 'ReplicationController light Should scale from 1 pod to 2 pods', 'a replication controller'),
      asked(autoscaling, 'ReplicationController light Should scale from 2 pods to 1 pod', 'a replication controller'),
      asked(
        autoscaling,
        'CustomResourceDefinition Should scale with a CRD targetRef',
        'scales a kind that a definition makes, through its scale subresource',
      ),
    ],
  },
  {
    name: 'Horizontal pod autoscaling (scale resource: Memory)',
    scenarios: [
      ['Pod Resource', 'Average Utilization', 'a utilization of memory'],
      ['Pod Resource', 'Average Value', 'an average of memory'],
      ['Container Resource', 'Average Utilization', 'a utilization of one container'],
      ['Container Resource', 'Average Value', 'an average of one container'],
    ].map(([resource, target, test = '']) =>
      asked(
        autoscaling,
        `Deployment (${resource}) Should scale from 1 pod to 3 pods and then from 3 pods to 5 pods using ${target} for aggregation`,
        test,
      ),
    ),
  },
  {
    name: 'Horizontal pod autoscaling (non-default behavior)',
    scenarios: [
      asked(
        autoscaling,
        'with short downscale stabilization window should scale down soon after the stabilization period',
        'a short window of shrinking',
      ),
      asked(
        autoscaling,
        'with long upscale stabilization window should scale up only after the stabilization period',
        'a long window of growth',
      ),
      asked(autoscaling, "with autoscaling disabled shouldn't scale up", 'growth that is disabled'),
      asked(autoscaling, "with autoscaling disabled shouldn't scale down", 'shrinking that is disabled'),
      asked(
        autoscaling,
        'with scale limited by number of Pods rate should scale up no more than given number of Pods per minute',
        'growth by a pod a minute',
      ),
      asked(
        autoscaling,
        'with scale limited by number of Pods rate should scale down no more than given number of Pods per minute',
        'shrinking by a pod a minute',
      ),
      asked(
        autoscaling,
        'with scale limited by percentage should scale up no more than given percentage of current Pods per minute',
        'growth by half every two minutes',
      ),
      asked(
        autoscaling,
        'with scale limited by percentage should scale down no more than given percentage of current Pods per minute',
        'shrinking by a quarter',
      ),
      asked(
        autoscaling,
        'with both scale up and down controls configured should keep recommendation within the range over two stabilization windows',
        'windows of growth and of shrinking, one after the other',
      ),
      asked(
        autoscaling,
        'with both scale up and down controls configured should keep recommendation within the range with stabilization window and pod limit rate',
        'a limit of growth and a window of shrinking, together',
      ),
      asked(
        controller('horizontal-pod-autoscaler/plan'),
        'configurable tolerance should adjust the thresholds',
        'tolerates what a behavior says, in each direction',
      ),
    ],
  },
  {
    name: 'Horizontal pod autoscaling (external metrics)',
    scenarios: [
      asked(adapter, 'should scale up and down based on external metric value'),
      asked(adapter, 'should scale based on multiple external metrics'),
      asked(adapter, 'should scale to intermediate replica count when dominant metric drops'),
      asked(adapter, 'should respect the stabilization window for scale down'),
      asked(adapter, 'should respect the scaling limits when scaling up'),
      ...[
        'should scale up with Custom Metric of type Pod from Stackdriver',
        'should scale down with Custom Metric of type Pod from Stackdriver',
        'should scale up with two metrics of type Pod from Stackdriver',
        'should scale down with Custom Metric of type Object from Stackdriver',
      ].map((name) => asked(adapter, name, 'an autoscaler scales by a metric of %s that an adapter has')),
    ],
  },
  {
    name: 'Cluster size autoscaling',
    scenarios: omitted(
      clusterAutoscaler,
      'Cluster size autoscaling (31 scenarios)',
      'Cluster size autoscaler scalability (6 scenarios)',
      'Autoscaling a service from 1 pod and 3 nodes to 8 pods and >=4 nodes takes less than 15 minutes',
      'kube-dns-autoscaler should scale kube-dns pods (2 scenarios)',
    ),
  },
  {
    name: 'SchedulerPredicates',
    scenarios: [
      asked(scheduling, 'validates local ephemeral storage resource limits of pods that are allowed to run'),
      asked(
        scheduling,
        'validates pod overhead is considered along with resource limits of pods that are allowed to run',
      ),
      asked(scheduling, 'validates resource limits of pods that are allowed to run'),
      asked(scheduling, 'validates that NodeSelector is respected if not matching'),
      asked(scheduling, 'validates that NodeSelector is respected if matching'),
      asked(scheduling, 'validates that NodeAffinity is respected if not matching'),
      asked(scheduling, 'validates that required NodeAffinity setting is respected if matching'),
      asked(scheduling, 'validates that taints-tolerations is respected if matching'),
      asked(scheduling, 'validates that taints-tolerations is respected if not matching'),
      asked(
        scheduling,
        'validates that there is no conflict between pods with same hostPort but different hostIP and protocol',
      ),
      asked(
        scheduling,
        'validates that there exists conflict between pods with same hostPort and protocol but one using 0.0.0.0 hostIP',
      ),
      asked(
        scheduling,
        'PodTopologySpread Filtering validates 4 pods with MaxSkew=1 are evenly distributed into 2 nodes',
        'validates 4 pods with MaxSkew=1 are evenly distributed into 2 nodes',
      ),
      asked(scheduling, 'validates Pods with non-empty schedulingGates are blocked on scheduling'),
    ],
  },
  {
    name: 'SchedulerPreemption',
    scenarios: [
      asked(scheduling, 'validates basic preemption works'),
      asked(scheduling, 'validates lower priority pod preemption by critical pod'),
      asked(scheduling, 'validates pod disruption condition is added to the preempted pod'),
      asked(
        scheduling,
        'PodTopologySpread Preemption validates proper pods are preempted',
        'validates proper pods are preempted',
      ),
      asked(
        scheduling,
        'PreemptionExecutionPath runs ReplicaSets to verify preemption running path',
        'runs ReplicaSets to verify preemption running path',
      ),
      asked(
        scheduling,
        'PriorityClass endpoints verify PriorityClass endpoints can be operated with different HTTP methods',
        'verify PriorityClass endpoints can be operated with different HTTP methods',
      ),
    ],
  },
  {
    name: 'SchedulerPriorities, LimitRange and zones',
    scenarios: [
      asked(scheduling, "Pod should be scheduled to node that don't match the PodAntiAffinity terms"),
      asked(scheduling, 'Pod should be preferably scheduled to nodes pod can tolerate'),
      asked(
        scheduling,
        'PodTopologySpread Scoring validates pod should be preferably scheduled to node which makes the matching pods more evenly distributed',
        'validates pod should be preferably scheduled to node which makes the matching pods more evenly distributed',
      ),
      asked(scheduling, 'should create a LimitRange with defaults and ensure pod has those defaults applied.'),
      asked(scheduling, 'should list, patch and delete a LimitRange by collection'),
      asked(
        scheduling,
        'Multi-AZ Clusters should spread the pods of a service across zones',
        'should spread the pods of a service across zones',
      ),
      asked(
        scheduling,
        'Multi-AZ Clusters should spread the pods of a replication controller across zones',
        'should spread the pods of a replication controller across zones',
      ),
      asked(
        volumes,
        'Multi-AZ Cluster Volumes should schedule pods in the same zones as statically provisioned PVs',
        'gets a directory of the node it comes to, and a later one comes there, too',
      ),
      ...omitted(clouds, 'Multi-AZ Cluster Volumes should only be allowed to provision PDs in zones where nodes exist'),
      asked(
        controller('node-lifecycle/controller'),
        'NoExecuteTaintManager (6 scenarios)',
        'evicts pods by a taint that somebody else has put on a node, and those that come there later',
        'says that a pod need not leave after all',
      ),
      ...omitted(devices, 'run Nvidia GPU Device Plugin tests', 'run Nvidia GPU Device Plugin tests with a recreation'),
      ...omitted(
        'Pods that are resized preempt nobody: they wait for room.',
        'preemption by pods that are resized in place',
      ),
      ...omitted(
        'Workloads and pod groups are not generally available upstream.',
        'gang scheduling and preemption of whole workloads',
      ),
    ],
  },
  {
    name: 'Services',
    scenarios: [
      asked(services, 'should provide secure master service'),
      asked(services, 'should serve a basic endpoint from pods'),
      asked(services, 'should serve multiport endpoints from pods'),
      asked(services, 'should be updated after adding or deleting ports'),
      asked(services, 'should work after the service has been recreated'),
      asked(services, 'should create endpoints for unready pods'),
      asked(
        services,
        'should be able to connect to terminating and unready endpoints if PublishNotReadyAddresses is true',
      ),
      asked(
        services,
        'should not be able to connect to terminating and unready endpoints if PublishNotReadyAddresses is false',
      ),
      asked(services, 'should be able to create a functioning NodePort service'),
      asked(services, 'should be able to change the type from ExternalName to ClusterIP'),
      asked(services, 'should be able to change the type from ExternalName to NodePort'),
      asked(services, 'should be able to change the type from ClusterIP to ExternalName'),
      asked(services, 'should be able to change the type from NodePort to ExternalName'),
      asked(
        services,
        'should be able to update service type to NodePort listening on same port number but different protocols',
      ),
      asked(services, 'should prevent NodePort collisions'),
      asked(services, 'should check NodePort out-of-range'),
      asked(services, 'should release NodePorts on delete'),
      asked(services, 'should be rejected for evicted pods (no endpoints exist)'),
      asked(services, 'should serve endpoints on same port and different protocols'),
      asked(services, 'should allow creating a basic SCTP service with pod and endpoints'),
      asked(podTraffic, 'should be able to up and down services'),
      asked(podTraffic, 'should be rejected when no endpoints exist'),
      asked(services, 'should find a service from listing all namespaces'),
      asked(apiOperations, 'should test the lifecycle of an Endpoint', stages),
      asked(apiOperations, 'should complete a service status lifecycle', status),
      asked(apiOperations, 'should delete a collection of services', collection),
      asked(
        'conformance/kubectl-endpoints.test.ts',
        'should work after restarting apiserver',
        'the service kubernetes has the server behind it',
      ),
      asked(
        cluster('services'),
        'Service endpoints latency should not be very high',
        'a service has the pods of all its release tracks behind it, and follows them',
      ),
      asked(serviceTraffic, 'should allow pods to hairpin back to themselves through services'),
      asked(
        serviceTraffic,
        'should work after restarting kube-proxy',
        'should work after restarting kube-proxy: the program is killed',
      ),
      ...['clusterIP', 'NodePort'].flatMap((kind) => {
        const service = kind === 'NodePort' ? 'for NodePort service' : 'for service with type clusterIP'
        const [works, endsIn, switched] = [
          'should have session affinity work for the service',
          'should have session affinity timeout work for the service',
          'should be able to switch session affinity for the service',
        ] as const
        return [
          asked(serviceTraffic, `should have session affinity work ${service}`, works),
          asked(serviceTraffic, `should have session affinity timeout work ${service}`, endsIn),
          asked(serviceTraffic, `should be able to switch session affinity ${service}`, switched),
        ]
      }),
      asked(serviceTraffic, 'should implement service.kubernetes.io/service-proxy-name'),
      asked(serviceTraffic, 'should implement service.kubernetes.io/headless'),
      asked(serviceTraffic, 'should fail health check node port if there are only terminating endpoints'),
      ...(
        [
          ['endpoints', 'internalTrafficPolicy=Cluster'],
          ['local terminating endpoints', 'internalTrafficPolicy=Local'],
          ['endpoints', 'externallTrafficPolicy=Cluster'],
          ['local terminating endpoints', 'externalTrafficPolicy=Local'],
        ] as const
      ).map(([which, policy]) =>
        asked(
          serviceTraffic,
          `should fallback to ${which === 'endpoints' ? 'terminating endpoints' : which} when there are no ready endpoints with ${policy}`,
          'should fallback to terminating endpoints when there are no ready endpoints',
          policy,
        ),
      ),
      asked(
        serviceTraffic,
        'Granular Checks: Services (20 scenarios)',
        'should function for pod-Service: %s',
        'should function for node-Service: %s',
        'should function for endpoint-Service: %s',
        'should function for multiple endpoint-Services with same selector',
        'should be able to handle large requests: %s',
        'should function for client IP based session affinity: %s',
        'should support basic nodePort: udp functionality',
        'should update nodePort: http and udp',
        'should update endpoints: http and udp',
      ),
      ...omitted(
        'Nodes of one host have one proxy, and count as one: the rules are in packages/proxy/src/frontends.test.ts.',
        'should respect internalTrafficPolicy=Local Pod to Pod',
        'should respect internalTrafficPolicy=Local Pod (hostNetwork: true) to Pod',
        'should respect internalTrafficPolicy=Local Pod and Node, to Pod (hostNetwork: true)',
      ),
      ...omitted(
        userspace,
        'should preserve source pod IP for traffic thru service cluster IP',
        'should be possible to connect to a service via ExternalIP when the external IP is not assigned to a node',
        'Conntrack',
        'KubeProxy should set TCP CLOSE_WAIT timeout',
        'Granular Checks: Services over SCTP, and those of the secondary family (14 scenarios)',
      ),
    ],
  },
  {
    name: 'Endpoints, EndpointSlices and addresses',
    scenarios: [
      asked(
        'conformance/kubectl-endpoints.test.ts',
        'EndpointSlice should have Endpoints and EndpointSlices pointing to API Server',
        'the service kubernetes has the server behind it',
      ),
      asked(
        services,
        'EndpointSlice should create and delete Endpoints and EndpointSlices for a Service with a selector specified',
        'should create and delete Endpoints and EndpointSlices for a Service with a selector specified',
      ),
      asked(
        services,
        'EndpointSlice should create Endpoints and EndpointSlices for Pods matching a Service',
        'should create Endpoints and EndpointSlices for Pods matching a Service',
      ),
      asked(apiOperations, 'EndpointSlice should support creating EndpointSlice API operations', stages, collection),
      ...['ports', 'endpoint IPs'].map((what) =>
        asked(
          serviceTraffic,
          `EndpointSlice should support a Service with multiple ${what} specified in multiple EndpointSlices`,
          'should support a Service with multiple endpoint IPs and ports specified in multiple EndpointSlices',
        ),
      ),
      asked(
        services,
        'EndpointSliceMirroring should mirror a custom Endpoints resource through create update and delete',
        'should mirror a custom Endpoints resource through create update and delete',
      ),
      asked(
        services,
        'EndpointSliceMirroring should mirror a custom Endpoint with multiple subsets and same IP address',
        'should mirror a custom Endpoint with multiple subsets and same IP address',
      ),
      asked(
        services,
        'Service CIDRs should create Services and serve on different Service CIDRs',
        'should create Services and serve on different Service CIDRs',
      ),
      asked(services, 'should support ServiceCIDR API operations'),
      asked(services, 'should support IPAddress API operations'),
      ...['PreferClose', 'PreferSameZone'].map((distribution) =>
        asked(
          services,
          `Traffic Distribution should route traffic to an endpoint in the same zone when using ${distribution}`,
          'should route traffic to an endpoint in the same zone when using %s',
          distribution,
        ),
      ),
      asked(
        services,
        'Traffic Distribution should route traffic to an endpoint on the same node or fall back to same zone when using PreferSameNode',
        'should route traffic to an endpoint on the same node or fall back to same zone when using PreferSameNode',
      ),
      ...omitted(
        'Nodes of one host have one proxy, and count as one.',
        'Traffic Distribution should route traffic correctly between pods on multiple nodes (3 scenarios)',
      ),
      asked(services, 'Topology Hints should distribute endpoints evenly', 'should distribute endpoints evenly'),
      asked(services, 'should create a single stack service with cluster ip from primary service range'),
      asked(services, 'should create service with ipv4 cluster ip'),
      asked(services, 'should create service with ipv6 cluster ip'),
      asked(services, 'should create service with ipv4,v6 cluster ip'),
      asked(services, 'should create service with ipv6,v4 cluster ip'),
      ...omitted(
        podNetwork,
        'should have ipv4 and ipv6 internal node ip',
        'should create pod, add ipv6 and ipv4 ip to pod ips',
        'should be able to reach pod on ipv4 and ipv6 ip',
      ),
    ],
  },
  {
    name: 'Ingress and network policies',
    scenarios: [
      asked(apiOperations, 'Ingress API should support creating Ingress API operations', stages, collection, status),
      asked(apiOperations, 'IngressClass API should support creating IngressClass API operations', stages, collection),
      asked(services, 'should set default value on new IngressClass'),
      asked(services, 'should not set default value if no default IngressClass'),
      asked(
        services,
        'should choose the one with the later CreationTimestamp, if equal the one with the lower name when two ingressClasses are marked as default',
      ),
      asked(services, 'should allow IngressClass to have Namespace-scoped parameters'),
      asked(apiOperations, 'Netpol API should support creating NetworkPolicy API operations', stages, collection),
      asked(apiOperations, 'Netpol API should support creating NetworkPolicy API with endport field', 'endPort: 90'),
      ...omitted(policies, 'Netpol between server and client (48 scenarios, with UDP and SCTP)'),
      ...omitted(
        clouds,
        'Loadbalancing: L7 (9 scenarios)',
        'LoadBalancers (19 scenarios)',
        'Firewall rule (3 scenarios)',
        'Services GCE should be able to create and tear down a standard-tier load balancer',
      ),
    ],
  },
  {
    name: 'DNS, networking and proxies',
    scenarios: [
      asked(
        domainNames,
        'should provide DNS for the cluster, for services, for pods for Hostname and Subdomain, for ExternalName services (6 scenarios)',
        'lead a pod to the API',
        'have the address of the service',
        'have ports',
        'are those of a pod with a hostname and a subdomain, and it knows its own',
        'are those of others as long as the service says so',
      ),
      asked(
        domainNames,
        'should resolve DNS of partial qualified names (2 scenarios)',
        'lead a pod to the API',
        'lead a pod to a service: %s',
      ),
      ...omitted(
        'The configuration of another server: names are answered by the program, as long as nobody is behind kube-system/kube-dns.',
        'DNS configMap nameserver (3 scenarios)',
      ),
      ...omitted(
        'How many services a cluster may have is measured elsewhere: an answer costs the same with 10,000 as with ten.',
        'Should answer DNS query for maximum number of services per cluster',
      ),
      asked(domainNames, 'ClusterDns should create pod that uses dns', 'lead a pod to a service: %s'),
      ...['nameservers', 'resolv.conf'].map((what) =>
        asked(
          domainNames,
          `should support configurable pod ${what === 'nameservers' ? 'DNS ' : ''}${what}`,
          'are looked up as a pod says',
        ),
      ),
      asked(
        'conformance/process-names.test.ts',
        'should provide /etc/hosts entries for the cluster',
        'knows its own names, what its pod adds, and what the host knows',
      ),
      ...omitted(
        'Pods of the process runtime read the /etc/resolv.conf of their host.',
        'should work with the pod containing more than 6 DNS search paths and longer than 256 search list characters',
      ),
      ...['intra-pod', 'node-pod'].flatMap((way) =>
        ['http', 'udp'].map((protocol) =>
          asked(
            podTraffic,
            `Granular Checks: Pods should function for ${way} communication: ${protocol}`,
            `should function for ${way} communication: ${way === 'intra-pod' ? '%s' : protocol}`,
          ),
        ),
      ),
      asked(
        services,
        'Networking should allow creating a Pod with an SCTP HostPort',
        'should allow creating a Pod with an SCTP HostPort',
      ),
      ...omitted(
        'SCTP needs a module of the kernel that hosts seldom have.',
        'Granular Checks: Pods should function for intra-pod and node-pod communication: sctp (2 scenarios)',
      ),
      ...omitted(
        podNetwork,
        'should provide Internet connection for containers (3 scenarios)',
        'NoSNAT Should be able to send traffic between Pods without SNAT',
        'Networking IPerf2 should run iperf2',
        'should recreate its iptables rules if they are deleted',
        'HostPort validates that there is no conflict between pods with same hostPort but different hostIP and protocol',
      ),
      asked(
        'packages/apiserver/src/http/server.test.ts',
        'should provide unchanging, static URL paths for kubernetes api services',
        'is well',
      ),
      ...omitted(
        'The service proxy is part of the program, and serves no paths of its own.',
        'should check kube-proxy urls',
      ),
      asked(
        'conformance/kubectl-proxy.test.ts',
        'Proxy version v1 should proxy through a service and a pod',
        'reads from a pod: %s',
        'reads from a pod behind a service: %s',
      ),
      asked(
        'packages/apiserver/src/proxy/serve-proxy.test.ts',
        'Proxy version v1 A set of valid responses are returned for both pod and service Proxy (2 scenarios)',
        'reach the pod as they are: %s',
        'lead to the directory where the path is the pod alone',
        'reach a pod behind it: %s',
      ),
      asked(
        'packages/kubelet/src/server/local-agent.test.ts',
        'Proxy version v1 should proxy logs on node using proxy subresource (2 scenarios)',
        'shows the logs of its containers as a host keeps them',
      ),
    ],
  },
]
