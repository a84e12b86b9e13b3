import type { Query } from './query.ts'

/** The result of an item that the statement left out. The item is run again, in a later statement. */
export const POSTPONED = Symbol('postponed')

/** A statement that does the work of several callers at once. Each caller has one item, and gets one result. */
export interface GatheredQuery<Item, Result> {
  /**
   * Items with the same key run one after the other, never in one statement. For example, one statement can count only
   * one request of an API key, so two requests with the same API key need two statements. Null if the items are
   * independent, as the items of a read are.
   */
  keyOf(item: Item): string | null
  /**
   * Returns whether the items with the same key that still wait get this result too, without a statement. By default,
   * they do not.
   */
  isShared?(result: Result): boolean
  /** Returns the statement for these items. Its result has one element per item, in the order of the items. */
  queryOf(items: readonly Item[]): Query<readonly (Result | typeof POSTPONED)[]>
}
