"""Evidence in fewer bytes: origins and printed texts as one text each, formulas of derived values alone.

What stands in ``artifacts`` and ``lines`` stays as it is: a number for each value is right in both forms.
"""

from importlib import import_module

from django.db import migrations, models

_AGREES = "evidence.run_id = run.id AND evidence.study_id = run.study_id"
EARLIER = import_module("perfdb.results.migrations.0015_study_of_evidence").VIEW.replace(
    "evidence.run_id = run.id", _AGREES
)
VIEW = f"""
CREATE VIEW measurement AS
SELECT run.id AS run, measure.metric, measure.role, value.value, measure.unit,
       CASE substr(evidence.origins, array_position(evidence.slots, measure.slot), 1)
            WHEN 'r' THEN 'reported' WHEN 'd' THEN 'derived' WHEN 'p' THEN 'published' WHEN 'g' THEN 'given'
       END AS origin,
       nullif(split_part(evidence.printed, E'\\n', array_position(evidence.slots, measure.slot)), '') AS printed
FROM run
CROSS JOIN LATERAL unnest(run."values") WITH ORDINALITY AS value (value, slot)
JOIN measure ON measure.slot = value.slot
LEFT JOIN run_evidence AS evidence ON {_AGREES}
WHERE value.value IS NOT NULL
"""
# A printed text is of one line; should one not be, blanks take the place of what stands between them.
SHORT = """
DROP VIEW measurement;
CREATE FUNCTION in_lines(texts text[]) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(string_agg(translate(each, E'\\n', ' '), E'\\n' ORDER BY at), '')
    FROM unnest(texts) WITH ORDINALITY AS of_each (each, at)
$$;
ALTER TABLE run_evidence
    ALTER origins TYPE text USING array_to_string(origins, ''),
    ALTER printed TYPE text USING in_lines(printed),
    ALTER formulas TYPE text[] USING array_remove(formulas, '');
DROP FUNCTION in_lines;
"""
LONG = """
DROP VIEW measurement;
CREATE FUNCTION formulas_of_each(origins text, formulas text[]) RETURNS text[] LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    found text[] := '{}';
    taken int := 0;
BEGIN
    FOR at IN 1 .. length(origins) LOOP
        IF substr(origins, at, 1) = 'd' THEN
            taken := taken + 1;
            found := found || formulas[taken];
        ELSE
            found := found || ''::text;
        END IF;
    END LOOP;
    RETURN found;
END $$;
CREATE FUNCTION numbers_of_each(origins text, printed text, numbers bigint[]) RETURNS bigint[] LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    found bigint[] := '{}';
BEGIN
    IF cardinality(numbers) = length(origins) THEN
        RETURN numbers;
    END IF;
    FOR at IN 1 .. length(origins) LOOP
        IF substr(origins, at, 1) = 'r' OR substr(origins, at, 1) = 'd' AND split_part(printed, E'\\n', at) <> '' THEN
            found := found || coalesce(numbers[1], 0);
        ELSE
            found := found || 0::bigint;
        END IF;
    END LOOP;
    RETURN found;
END $$;
ALTER TABLE run_evidence
    ALTER artifacts TYPE bigint[] USING numbers_of_each(origins, printed, artifacts),
    ALTER lines TYPE int[] USING numbers_of_each(origins, printed, lines::bigint[])::int[],
    ALTER formulas TYPE text[] USING formulas_of_each(origins, formulas),
    ALTER origins TYPE text[] USING coalesce(string_to_array(origins, NULL), '{}'),
    ALTER printed TYPE text[] USING CASE length(origins)
        WHEN 0 THEN '{}' WHEN 1 THEN ARRAY[printed] ELSE string_to_array(printed, E'\\n') END;
DROP FUNCTION formulas_of_each;
DROP FUNCTION numbers_of_each;
"""


class Migration(migrations.Migration):
    dependencies = [("results", "0018_renamings")]

    operations = [
        migrations.RunSQL(
            SHORT + VIEW,
            LONG + EARLIER,
            state_operations=[
                migrations.AlterField("runevidence", "origins", models.TextField()),
                migrations.AlterField("runevidence", "printed", models.TextField()),
            ],
        ),
    ]
