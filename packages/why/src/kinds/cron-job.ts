import {
  type CronJob,
  humanDuration,
  isJobFinished,
  type Job,
  jobs,
  parseCron,
  parseTime,
  timeZone,
  utc,
} from '@coracle/api'
import { lastSeenMs, latestOf } from '../events.ts'
import type { Facts, KindRules } from '../facts.ts'
import type { Diagnosis } from '../finding.ts'
import { isControlledBy, isGoing } from '../owners.ts'
import { refusalOf } from '../rules/refusals.ts'

type CronFacts = Facts<CronJob>

export const cronJobRules: KindRules<CronJob> = {
  reads: ({ metadata: { namespace } }) => [{ resource: jobs, namespace }],
  rules: [suspended, unreadable, neverDue, refusedJobs, alreadyActive, missed, notDueYet],
  leads: (facts) => (alreadyActive(facts) === undefined ? [] : activeJobs(facts)),
}

function suspended({ object }: CronFacts): Diagnosis | undefined {
  if (object.spec.suspend !== true) return undefined
  return {
    reason: 'Suspended',
    what: 'it starts no Jobs',
    because: 'it is suspended',
    remedy: `set spec.suspend to false: \`coracle patch cronjob/${object.metadata.name} -p '{"spec":{"suspend":false}}'\``,
  }
}

/** When it is due next, where its schedule means something, and such a time ever comes. */
function dueAfter({ spec }: CronJob, nowMs: number): number | 'never' | 'unreadable' {
  const zone = spec.timeZone === undefined ? utc : timeZone(spec.timeZone)
  if (zone === undefined) return 'unreadable'
  try {
    return parseCron(spec.schedule, zone).next(nowMs) ?? 'never'
  } catch {
    // What is wrong with the schedule is told by the controller, in its own words.
    return 'unreadable'
  }
}

function unreadable({ object, events }: CronFacts): Diagnosis | undefined {
  const told = latestOf(events, ['UnknownTimeZone', 'UnparseableSchedule'])
  if (told === undefined || dueAfter(object, lastSeenMs(told)) !== 'unreadable') return undefined
  return {
    reason: told.reason ?? 'UnparseableSchedule',
    what: 'it starts no Jobs',
    because: told.message ?? '',
    remedy: told.reason === 'UnknownTimeZone' ? 'correct spec.timeZone' : 'correct spec.schedule',
  }
}

function neverDue({ object, nowMs }: CronFacts): Diagnosis | undefined {
  if (isGoing(object) || dueAfter(object, nowMs) !== 'never') return undefined
  return {
    reason: 'NeverDue',
    what: 'it starts no Jobs',
    because: `its schedule is ${object.spec.schedule}, and no such time comes`,
    remedy: 'correct spec.schedule: not every month has such a day',
  }
}

/** What became of a due time is the latest of these. */
const outcomes = ['SuccessfulCreate', 'FailedCreate', 'JobAlreadyActive', 'MissSchedule', 'TooManyMissedTimes'] as const

const isLatest = ({ events }: CronFacts, reason: (typeof outcomes)[number]) => {
  const others = outcomes.filter((each) => each !== reason)
  return latestOf(events, [reason], others)
}

function refusedJobs(facts: CronFacts): Diagnosis | undefined {
  const refused = isLatest(facts, 'FailedCreate')
  if (refused === undefined) return undefined
  const because = refused.message ?? ''
  return { ...refusalOf(because), what: 'its Jobs cannot be created', because }
}

/** Its Jobs that are not over yet: its status may still have others. */
function activeJobs({ object, some }: CronFacts): readonly Job[] {
  const active = new Set(object.status?.active?.map(({ uid }) => uid))
  const own = some(jobs).filter((job) => isControlledBy(job, object))
  return own.filter((job) => active.has(job.metadata.uid) && !isJobFinished(job))
}

function alreadyActive(facts: CronFacts): Diagnosis | undefined {
  const { object } = facts
  const [first] = activeJobs(facts)
  if (object.spec.concurrencyPolicy !== 'Forbid' || first === undefined) return undefined
  if (isLatest(facts, 'JobAlreadyActive') === undefined) return undefined
  return {
    reason: 'JobAlreadyActive',
    what: 'it starts no Job while another runs',
    because: `concurrencyPolicy is Forbid, and job ${first.metadata.name} is not over`,
    remedy: `see what keeps it: \`coracle why job/${first.metadata.name}\`; concurrencyPolicy: Replace ends it for the next, Allow lets both run`,
    isSymptom: true,
  }
}

function missed(facts: CronFacts): Diagnosis | undefined {
  const told = isLatest(facts, 'MissSchedule') ?? isLatest(facts, 'TooManyMissedTimes')
  if (told === undefined) return undefined
  return {
    reason: told.reason ?? 'MissSchedule',
    what: 'it has missed a time at which it was due',
    because: told.message ?? '',
    remedy:
      'its controller did not run at that time, or startingDeadlineSeconds is shorter than it takes to come to it: give it more',
  }
}

function notDueYet({ object, nowMs }: CronFacts): Diagnosis | undefined {
  if (object.spec.suspend === true || isGoing(object)) return undefined
  const next = dueAfter(object, nowMs)
  if (typeof next !== 'number') return undefined
  const last = object.status?.lastScheduleTime
  const before =
    last === undefined ? 'it has not been due so far' : `it was due last ${humanDuration(nowMs - parseTime(last))} ago`
  return {
    reason: 'NotDueYet',
    what: `its next Job starts in ${humanDuration(next - nowMs)}`,
    because: `its schedule is ${object.spec.schedule}${object.spec.timeZone === undefined ? '' : ` in ${object.spec.timeZone}`}; ${before}`,
    remedy: `\`coracle create job NAME --from=cronjob/${object.metadata.name}\` does not wait`,
    state: 'hint',
  }
}
