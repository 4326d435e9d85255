export { feasibleWanted, schedule } from './schedule.ts'
export { createScheduler, defaultSchedulerName, type Scheduler, type SchedulerOptions } from './scheduler.ts'
