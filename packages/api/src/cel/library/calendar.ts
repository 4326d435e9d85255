/** Days of the Gregorian calendar, counted from 1970, for any year. */

export interface CivilDate {
  readonly year: number
  /** 1 to 12. */
  readonly month: number
  readonly day: number
}

const daysPerEra = 146_097
const yearsPerEra = 400
/** From the first of March of the year 0 to 1970. */
const epochDays = 719_468

/** The number of a day. Years begin in March here, so that the leap day is the last of one. */
export function dayNumber({ year, month, day }: CivilDate): number {
  const shifted = month <= 2 ? year - 1 : year
  const era = Math.floor(shifted / yearsPerEra)
  const yearOfEra = shifted - era * yearsPerEra
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * daysPerEra + dayOfEra - epochDays
}

/** The day of a number. */
export function civilDate(number: number): CivilDate {
  const days = number + epochDays
  const era = Math.floor(days / daysPerEra)
  const dayOfEra = days - era * daysPerEra
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const shifted = Math.floor((5 * dayOfYear + 2) / 153)
  const month = shifted < 10 ? shifted + 3 : shifted - 9
  const day = dayOfYear - Math.floor((153 * shifted + 2) / 5) + 1
  return { year: yearOfEra + era * yearsPerEra + (month <= 2 ? 1 : 0), month, day }
}
