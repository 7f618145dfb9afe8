"""The scene into files: everything is built and judged before the first file is written."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ..io_common import atomic, axes, evaluated, manifest, names, state
from ..io_common.material_names import shader_name
from ..io_common.reports import Progress, Report, listing, progress
from ..io_common.scene_objects import NothingToExportError, Scope, collect
from . import import_anim, import_mesh, importer
from .export_anim import (
    AnimationOptions,
    Clip,
    action_clip,
    export_clip,
    fitting_actions,
    scene_clip,
)
from .export_mesh import WeightOptions, export_object
from .export_skeleton import Skeleton, build_skeleton
from .format import Animation, Md5Error, Mesh, Model, format_animation, format_mesh
from .format.check import Finding, Game, check_animation, check_model

if TYPE_CHECKING:
    from bpy.types import Context, Object


@dataclass(frozen=True)
class ModelOptions:
    """How the model is exported.

    Attributes:
        scope: which objects.
        conversion: scale and axes.
        apply_modifiers: export what modifiers other than the Armature make of the meshes.
        deform_only: leave out bones that do not deform.
        add_origin: put an origin joint above several roots.
        weights: how weights are exported.
        game: whose limits count.
    """

    scope: Scope = field(default_factory=Scope)
    conversion: axes.Conversion = field(default_factory=axes.unchanged)
    apply_modifiers: bool = True
    deform_only: bool = False
    add_origin: bool = False
    weights: WeightOptions = field(default_factory=WeightOptions)
    game: Game = Game.ANY


@dataclass(eq=False)
class _Source:
    """What is exported: an armature and the meshes that it deforms."""

    armature: Object | None
    meshes: list[Object]


def export_model(
    context: Context,
    path: Path,
    options: ModelOptions,
    actions: str,
    animation_options: AnimationOptions,
    report: Report,
) -> list[Path]:
    """Writes an md5mesh file, and on request animations beside it.

    Args:
        context: of the scene and view layer.
        path: the md5mesh file.
        options: how the model is exported.
        actions: 'NONE', 'ACTIVE', 'ALL' or 'SCENE'.
        animation_options: how animations are exported.
        report: takes counts and warnings.

    Returns:
        The files that were written.

    Raises:
        Md5Error: a game would refuse the result; nothing was written.
        NothingToExportError: there is nothing to export; nothing was written.
        OSError: a file cannot be written; it is as it was.
    """
    with state.out_of_edit_mode(context):
        source = _find_source(context, options.scope, report)
        clips = _clips(context, source.armature, actions, path.parent, path.stem)
        with progress(len(source.meshes) + len(clips) + 1) as shown:
            skeleton, model = _build_model(context, source, options, report, shown)
            _judge(check_model(model, options.game), path.name, report)
            files = {path: format_mesh(model)}
            for target, clip in clips.items():
                animation = _build_animation(context, clip, skeleton, model.meshes, animation_options, report)
                _judge(check_animation(animation, model.joints, options.game), target.name, report)
                files[target] = format_animation(animation)
                shown.step()
            # The model last: whoever sees it finds its animations.
            atomic.write_files(dict(reversed(files.items())))
            shown.step()
    report.count("joints", len(model.joints))
    report.count("meshes", len(model.meshes))
    report.count("vertices", model.vertex_count)
    report.count("triangles", sum(len(mesh.triangles) for mesh in model.meshes))
    return list(files)


def export_animations(
    context: Context,
    path: Path,
    options: ModelOptions,
    actions: str,
    animation_options: AnimationOptions,
    report: Report,
) -> list[Path]:
    """Writes md5anim files: one at `path`, or for several actions one each, named after it, in the folder of `path`.

    The meshes are looked at for the bounds, but not written. For the arguments and errors see `export_model`.
    """
    with state.out_of_edit_mode(context):
        source = _find_source(context, options.scope, report)
        clips = _clips(context, source.armature, actions, path.parent, path.stem)
        if not clips:
            raise NothingToExportError("there is no action to export")
        if actions != "ALL":
            clips = {path: next(iter(clips.values()))}
        with progress(len(source.meshes) + len(clips)) as shown:
            skeleton, model = _build_model(context, source, options, report, shown)
            files = {}
            for target, clip in clips.items():
                animation = _build_animation(context, clip, skeleton, model.meshes, animation_options, report)
                _judge(check_animation(animation, model.joints, options.game), target.name, report)
                files[target] = format_animation(animation)
                shown.step()
            atomic.write_files(files)
    return list(files)


# What is exported


def _find_source(context: Context, scope: Scope, report: Report) -> _Source:
    """The armature, and the meshes that it deforms."""
    objects = collect(context, scope)
    meshes = [obj for obj in objects if obj.type == "MESH"]
    owners = {obj: _armature_of(obj) for obj in meshes}
    armatures = [obj for obj in objects if obj.type == "ARMATURE"]
    armatures += [owner for owner in owners.values() if owner is not None and owner not in armatures]
    armatures = list(dict.fromkeys(armatures))
    if not armatures and not meshes:
        raise NothingToExportError("there is no armature and no mesh to export")
    armature = _choose(context, armatures)
    mine = [obj for obj in meshes if owners[obj] == armature]
    if scope.use_selection and not mine and armature is not None:
        # With the armature alone selected, its meshes are meant.
        mine = [
            obj for obj in collect(context, Scope()) if obj.type == "MESH" and _armature_of(obj) == armature
        ]
    if scope.use_selection:
        others = [obj.name for obj in meshes if obj not in mine]
        if others:
            report.warn(
                f"selected, but not moved by {armature.name if armature else ''}: {listing(others)}; left out"
            )
    if armature is None:
        report.warn("there is no armature: all is bound to one joint named origin")
    return _Source(armature, sorted(mine, key=_place_in_file))


def _place_in_file(obj: Object) -> tuple[int, str]:
    """Imported meshes in their old order, new ones after them by name."""
    return int(obj.data.get(import_mesh.INDEX, 1 << 31)), obj.name


def _armature_of(obj: Object) -> Object | None:
    """The armature that moves a mesh: by modifier, or because it hangs on it."""
    found = obj.find_armature()
    if found is None and obj.parent is not None and obj.parent.type == "ARMATURE":
        found = obj.parent
    return found


def _choose(context: Context, armatures: list[Object]) -> Object | None:
    """The one armature, or the active one of several."""
    if len(armatures) <= 1:
        return armatures[0] if armatures else None
    active = context.view_layer.objects.active
    if active is not None and active.type != "ARMATURE":
        active = _armature_of(active)
    if active in armatures:
        return active
    names_of = listing([obj.name for obj in armatures])
    raise NothingToExportError(
        f"several armatures: {names_of}; make one active, or select what is to be exported"
    )


def _clips(
    context: Context, armature: Object | None, actions: str, folder: Path, stem: str
) -> dict[Path, Clip]:
    """What is to be exported to which file.

    Raises:
        NothingToExportError: there is no such action.
    """
    if actions == "NONE" or armature is None:
        return {}
    if actions == "SCENE":
        return {folder / f"{stem}{importer.ANIMATION_SUFFIX}": scene_clip(context.scene)}
    if actions == "ACTIVE":
        action = armature.animation_data.action if armature.animation_data else None
        if action is None:
            raise NothingToExportError(f"{armature.name} has no active action")
        chosen = [action]
    else:
        chosen = fitting_actions(armature)
    clips: dict[Path, Clip] = {}
    for action in chosen:
        name = names.for_files(names.original(action, import_anim.NAME, action.name), "animation")
        target = folder / f"{name}{importer.ANIMATION_SUFFIX}"
        number = 1
        # Many file systems take names that differ in case only for one.
        while target.name.lower() in {other.name.lower() for other in clips}:
            number += 1
            target = folder / f"{name}_{number}{importer.ANIMATION_SUFFIX}"
        clips[target] = action_clip(action, context.scene)
    return clips


# Building


def _build_model(
    context: Context, source: _Source, options: ModelOptions, report: Report, shown: Progress
) -> tuple[Skeleton, Model]:
    """The skeleton at rest, and the model."""
    armature = source.armature
    skeleton = build_skeleton(
        armature, options.conversion, report, deform_only=options.deform_only, add_origin=options.add_origin
    )

    def hides(modifier: object) -> bool:
        return not options.apply_modifiers or getattr(modifier, "type", "") == "ARMATURE"

    blocks: list[Mesh] = []
    rests = [armature.data] if armature is not None else []
    with state.rest_position(rests), state.hidden_modifiers(source.meshes, hides):
        graph = context.evaluated_depsgraph_get()
        for obj in source.meshes:
            triangles = evaluated.triangle_mesh(obj, graph)
            for slot, mesh in export_object(obj, triangles, skeleton, options.weights, report):
                mesh.shader = _shader(obj, slot, report)
                blocks.append(mesh)
            shown.step()
    return skeleton, Model(skeleton.joints, blocks, _commandline(armature))


def _shader(obj: Object, slot: int, report: Report) -> str:
    """The shader of a material slot; an object without material is its own."""
    material = obj.material_slots[slot].material if slot < len(obj.material_slots) else None
    if material is None:
        report.warn("no material: the shader is named after the object", obj.name)
        return str(obj.name)
    return shader_name(material)


def _commandline(armature: Object | None) -> str:
    kept = names.kept_text(armature.data, importer.COMMANDLINE) if armature is not None else ""
    return kept or _signature()


def _signature() -> str:
    """The add-on and its version."""
    return f"io_idtech {manifest.version()}"


def _build_animation(
    context: Context,
    clip: Clip,
    skeleton: Skeleton,
    meshes: list[Mesh],
    options: AnimationOptions,
    report: Report,
) -> Animation:
    commandline = names.kept_text(clip.action, import_anim.COMMANDLINE) if clip.action is not None else ""
    animation = export_clip(context, clip, skeleton, meshes, options, commandline or _signature(), report)
    report.count("animations")
    report.count("frames", animation.frame_count)
    return animation


def _judge(findings: list[Finding], name: str, report: Report) -> None:
    """Passes warnings on.

    Raises:
        Md5Error: there are errors.
    """
    for finding in findings:
        if not finding.is_error:
            report.warn(finding.text, name)
    errors = [finding.text for finding in findings if finding.is_error]
    if errors:
        raise Md5Error("; ".join(errors), path=name)
