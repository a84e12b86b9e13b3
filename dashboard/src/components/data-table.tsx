/* oxlint-disable jsx-a11y/no-redundant-roles, jsx-a11y/no-interactive-element-to-noninteractive-role -- some browsers drop the implicit roles of a table whose CSS display is changed */
import type { ReactNode } from 'react'
import { Link } from 'react-router'

export interface Column<Item> {
  readonly title: string
  /** Whether the values are numbers, which are aligned to the right. */
  readonly isNumber?: boolean
  /** Whether the column is hidden on narrow screens. Its value must then also be on the page that the row links to. */
  readonly isSecondary?: boolean
  /** Whether the values may be long. Long columns share the remaining width, and their text is truncated. */
  readonly isLong?: boolean
  /**
   * The width of the column in a table that is no list of cards, as classes such as `md:w-1/4 xl:w-1/5`. If all columns
   * of several tables on a page have widths, the tables line up.
   */
  readonly width?: string
  /** Whether the value takes a full line on a phone. */
  readonly isWide?: boolean
  readonly render: (item: Item) => ReactNode
}

interface DataTableProps<Item> {
  /** What the table lists. Only screen readers read it. */
  readonly caption: string
  readonly columns: readonly Column<Item>[]
  readonly items: readonly Item[]
  readonly keyOf: (item: Item) => string
  /** The page that a row links to. The first cell is the link, and the whole row is clickable. */
  readonly hrefOf?: (item: Item) => string
}

/** The width of each long column if there are one, two or three of them. */
const LONG_SHARES = ['md:w-2/5', 'md:w-1/4', 'md:w-[22%]'] as const

/** A long column has no minimum width, because its text is truncated. */
function widthOf<Item>({ width, isLong = false }: Column<Item>, share: string): string {
  return `${width ?? (isLong ? share : '')} ${isLong ? 'md:max-w-0' : ''}`
}

/**
 * A table that becomes a list of cards on a phone. A cell is never narrower than its longest word, so no word is broken.
 * A name that a user has chosen can be one very long word: its column must be long, and the name a `TruncatedText`. The ARIA roles are explicit because some browsers drop the implicit
 * ones when the CSS display of a table changes.
 */
export function DataTable<Item>({ caption, columns, items, keyOf, hrefOf }: DataTableProps<Item>) {
  const share = LONG_SHARES[columns.filter(({ isLong }) => isLong === true).length - 1] ?? LONG_SHARES[2]
  return (
    <div className="overflow-hidden rounded-xl border border-line bg-surface">
      <table role="table" className="block w-full text-[0.9375rem] md:table">
        <caption className="sr-only">{caption}</caption>
        <thead
          role="rowgroup"
          className="hidden border-b border-line text-left text-[0.8125rem] text-muted md:table-header-group"
        >
          <tr role="row">
            {columns.map((column) => (
              <th
                key={column.title}
                role="columnheader"
                scope="col"
                className={`px-4 py-2.5 font-semibold whitespace-nowrap first:pl-5 last:pr-5 ${column.isNumber === true ? 'text-right' : ''} ${column.isSecondary === true ? 'hidden xl:table-cell' : ''}`}
              >
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup" className="block divide-y divide-line md:table-row-group">
          {items.map((item) => (
            <tr
              key={keyOf(item)}
              role="row"
              className={`relative grid grid-cols-[minmax(min-content,1fr)_fit-content(60%)] gap-x-4 gap-y-1 px-4 py-3 md:table-row md:p-0 ${hrefOf === undefined ? '' : 'hover:bg-sunken'}`}
            >
              {columns.map((column, index) => (
                <td
                  key={column.title}
                  role="cell"
                  className={`min-w-0 md:px-4 md:wrap-break-word md:py-3 md:align-middle md:first:pl-5 md:last:pr-5 ${column.isWide === true ? 'max-md:col-span-full' : index % 2 === 1 ? 'text-right md:text-left' : ''} ${column.isNumber === true ? 'md:text-right' : ''} ${column.isSecondary === true ? 'hidden xl:table-cell' : ''} ${widthOf(column, share)} ${index === 0 && column.isNumber === true ? 'md:w-px' : ''}`}
                >
                  {index === 0 && hrefOf !== undefined ? (
                    <Link
                      to={hrefOf(item)}
                      className="font-semibold after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
                    >
                      {column.render(item)}
                    </Link>
                  ) : (
                    column.render(item)
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
