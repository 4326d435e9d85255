import { type CronJob, isJobFinished, type Job, type KubernetesObject, type Pod } from '@coracle/api'
import { hasEnded } from '../view.ts'
import { conditionOf, eventSays, isGoing, type Oracle, unless, type World } from './oracle.ts'

const failedJob: Oracle = ({ reason }, object) => {
  const condition = conditionOf(object, 'Failed') ?? conditionOf(object, 'FailureTarget')
  return unless(condition?.status === 'True' && condition.reason === reason, `it has not failed by ${reason}`)
}

const jobNamed = (because: string, pattern: RegExp, object: KubernetesObject, { view }: World): Job | undefined =>
  view.find('Job', object.metadata.namespace, pattern.exec(because)?.[1] ?? '') as Job | undefined

/** Findings about Jobs and CronJobs, by their reasons. */
export const jobOracles: Readonly<Record<string, Oracle>> = {
  Suspended: (_, object) => unless((object as Job).spec.suspend === true, 'it is not suspended'),
  WaitsForJob: ({ because }, object, world) => {
    const open = [...because.matchAll(/([a-z0-9-]+) \((?:running|suspended|not started|is being deleted)\)/g)]
    const isOver = open.every(([, name = '']) => {
      const other = world.view.find('Job', object.metadata.namespace, name) as Job | undefined
      return conditionOf(other ?? object, 'Complete')?.status === 'True' && !isGoing(other ?? object)
    })
    return unless(
      conditionOf(object, 'coracle.dev/Waiting')?.status === 'True' && !(isOver && open.length > 0),
      'those Jobs are complete',
    )
  },
  JobMissing: ({ remedy }, object, world) =>
    unless(jobNamed(remedy, /^create job\/([^,]+)/, object, world) === undefined, 'that Job is there'),
  BackingOff: ({ because }, object, { view }) => {
    const { failed = 0 } = (object as Job).status ?? {}
    const active = view.podsOf(object.metadata.uid ?? '').filter((pod) => !hasEnded(pod) && !isGoing(pod))
    if (active.length > 0) return `${active.length} of its pods run`
    return unless(because.startsWith(`${failed} of its pods have failed`), `${failed} have failed`)
  },
  ...Object.fromEntries(
    ['BackoffLimitExceeded', 'FailedIndexes', 'MaxFailedIndexesExceeded', 'PodFailurePolicy', 'DependencyFailed'].map(
      (reason) => [reason, failedJob],
    ),
  ),
  DeadlineExceeded: (finding, object, world) =>
    object.kind === 'Job'
      ? failedJob(finding, object, world)
      : unless((object as Pod).status?.phase === 'Failed', 'it has not failed'),
  JobAlreadyActive: ({ because }, object, world) => {
    const job = jobNamed(because, /job (\S+) is not over/, object, world)
    return unless(job !== undefined && !isJobFinished(job), 'that Job is over, or not there')
  },
  NotDueYet: (_, object) => unless((object as CronJob).spec.suspend !== true, 'it is suspended'),
  MissSchedule: eventSays,
  TooManyMissedTimes: eventSays,
}
